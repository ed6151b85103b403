//===- Harness.cpp - builds a function and its gradient and compares them -===//
#include "test/passes/grad/Harness.h"

#include "codegen/Pipeline.h"
#include "ir/dlc/Dialect.h"
#include "ir/dlc/OperandSegments.h"
#include "ir/reference/Evaluate.h"
#include "passes/Passes.h"
#include "runtime/session/Session.h"
#include "test/conformance/Runner.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <cstring>
#include <ostream>

using namespace mlir;

namespace dlc::gradtest {

void PrintTo(const Case &c, std::ostream *stream) { *stream << c.name; }

std::string array(const Shape &values) {
  std::string text = "array<i64";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : ": ") + std::to_string(values[i]);
  return text + ">";
}

namespace {

std::string withElement(std::string text, const std::string &element) {
  for (size_t at = 0; (at = text.find("FF", at)) != std::string::npos;)
    text.replace(at, 2, element);
  return text;
}

std::string typeText(const Operand &o, const std::string &element) {
  return conformance::typeText(o.shape, withElement(o.type, element));
}

bool isFloat(Value value) {
  return isa<FloatType>(cast<RankedTensorType>(value.getType()).getElementType());
}

FailureOr<SmallVector<Value>> buildText(OpBuilder &builder, const Case &c, ValueRange arguments,
                                        const std::string &element) {
  std::string text = "func.func @f(";
  for (size_t i = 0; i < c.operands.size(); ++i)
    text += (i ? ", %a" : "%a") + std::to_string(i) + ": " + typeText(c.operands[i], element);
  text += ") -> (";
  for (size_t i = 0; i < c.resultTypes.size(); ++i)
    text += (i ? ", " : "") + c.resultTypes[i];
  text = withElement(text + ") {" + c.body + "\n}", element);
  OwningOpRef<ModuleOp> parsed = parseSourceString<ModuleOp>(text, builder.getContext());
  if (!parsed)
    return failure();
  auto function = *parsed->getOps<func::FuncOp>().begin();
  IRMapping map;
  map.map(function.getArguments(), arguments);
  for (Operation &op : function.getBody().front().without_terminator())
    builder.clone(op, map);
  SmallVector<Value> results;
  for (Value v : function.getBody().front().getTerminator()->getOperands())
    results.push_back(map.lookup(v));
  return results;
}

FailureOr<SmallVector<Value>> buildOp(OpBuilder &builder, const Case &c, ValueRange arguments,
                                      const std::string &element) {
  MLIRContext *context = builder.getContext();
  OperationState state(NameLoc::get(builder.getStringAttr(c.name)), "dlc." + operationOf(c));
  Attribute attributes = parseAttribute("{" + withElement(c.attributes, element) + "}", context);
  if (!attributes)
    return failure();
  state.addOperands(arguments);
  state.attributes = cast<DictionaryAttr>(attributes);
  SmallVector<Type> types;
  for (const std::string &text : c.resultTypes)
    types.push_back(parseType(withElement(text, element), context));
  if (types.empty())
    types.assign(c.results, RankedTensorType::get({}, builder.getF32Type()));
  state.addTypes(types);
  Operation *op = builder.create(state);
  // Missing optional operands are the last ones.
  llvm::TypeSwitch<Operation *>(op).Case<MatmulOp, ConvOp>(
      [&](auto contraction) { omitLastOperands(contraction.getProperties(), arguments.size()); });
  if (c.resultTypes.empty()) {
    auto infer = dyn_cast<InferTypeOpInterface>(op);
    types.clear();
    if (!infer || failed(infer.inferReturnTypes(
                      context, op->getLoc(), op->getOperands(), op->getRawDictionaryAttrs(),
                      op->getPropertiesStorage(), op->getRegions(), types)))
      return failure();
    for (auto [result, type] : llvm::zip_equal(op->getResults(), types))
      result.setType(type);
  }
  if (failed(verify(op)))
    return failure();
  return SmallVector<Value>(llvm::make_filter_range(op->getResults(), isFloat));
}

/// A module whose functions take the case's operands, followed by a seed for each result of the
/// function that is differentiated.
struct Built {
  OwningOpRef<ModuleOp> module;
  std::vector<ref::Tensor> inputs;
  /// Result types of `value`, followed by those of `gradient`.
  std::vector<Type> results;
  std::string error;

  func::FuncOp function(StringRef name) { return module->lookupSymbol<func::FuncOp>(name); }
};

/// Collects error messages for the lifetime of the object.
struct Messages {
  explicit Messages(MLIRContext &context)
      : handler(&context, [this](Diagnostic &d) {
          if (d.getSeverity() == DiagnosticSeverity::Error)
            text += (text.empty() ? "" : "; ") + d.str();
          return success();
        }) {}
  std::string text;
  ScopedDiagnosticHandler handler;
};

/// Builder of a function with the operations of a case.
class FunctionBuilder {
public:
  FunctionBuilder(Built &built, StringRef name, bool fill)
      : built(built), builder(built.module->getContext()), fill(fill) {
    builder.setInsertionPointToEnd(built.module->getBody());
    function = func::FuncOp::create(builder, builder.getUnknownLoc(), name,
                                    builder.getFunctionType({}, {}));
    builder.setInsertionPointToEnd(function.addEntryBlock());
  }
  Value input(RankedTensorType type, const Fill &how) {
    unsigned number = function.getNumArguments();
    std::string name = "x" + std::to_string(number);
    (void)function.insertArgument(
        number, type,
        builder.getDictionaryAttr(builder.getNamedAttr("dlc.name", builder.getStringAttr(name))),
        builder.getUnknownLoc());
    if (fill) {
      built.inputs.push_back(ref::Tensor::empty(type));
      conformance::fillTensor(built.inputs.back(), how, number + 17);
    }
    return function.getArgument(number);
  }
  /// Returns the derivatives of values with respect to all floating-point inputs so far. The seeds
  /// are new inputs.
  SmallVector<Value> differentiate(ArrayRef<Value> ys) {
    SmallVector<Value> seeds, xs;
    for (Value x : function.getArguments())
      if (isFloat(x))
        xs.push_back(x);
    for (Value y : ys)
      seeds.push_back(input(cast<RankedTensorType>(y.getType()), {Fill::Uniform, -1, 1}));
    auto op = GradientOp::create(builder, builder.getUnknownLoc(), ValueRange(xs).getTypes(), ys,
                                 seeds, xs, /*allow_unused=*/true);
    return SmallVector<Value>(op->getResults());
  }
  void finish(ArrayRef<Value> results) {
    func::ReturnOp::create(builder, builder.getUnknownLoc(), results);
    function.setFunctionType(
        builder.getFunctionType(function.getArgumentTypes(), ValueRange(results).getTypes()));
    for (size_t i = 0; i < results.size(); ++i)
      function.setResultAttr(i, "dlc.name", builder.getStringAttr("y" + std::to_string(i)));
  }

  Built &built;
  OpBuilder builder;
  func::FuncOp function;
  bool fill;
};

/// Builds `value` and its `gradient`. For the second order, `value` is itself the gradient of the
/// case.
Built build(MLIRContext &context, const Case &c, const std::string &element, bool second) {
  Built built;
  built.module = ModuleOp::create(UnknownLoc::get(&context));
  for (bool gradient : {false, true}) {
    FunctionBuilder function(built, gradient ? "main" : "value", gradient);
    for (const Operand &o : c.operands)
      function.input(cast<RankedTensorType>(parseType(typeText(o, element), &context)), o.fill);
    ValueRange arguments = function.function.getArguments();
    auto made = c.body.empty() ? buildOp(function.builder, c, arguments, element)
                               : buildText(function.builder, c, arguments, element);
    if (failed(made)) {
      built.error = "is not well formed";
      return built;
    }
    SmallVector<Value> results = *made;
    if (second)
      results = function.differentiate(results);
    if (gradient)
      results = function.differentiate(results);
    function.finish(results);
  }
  PassManager passes(&context);
  passes.addPass(createGradPass());
  if (failed(verify(*built.module)) || failed(passes.run(*built.module)))
    built.error = "has no gradient";
  return built;
}

double weighted(ArrayRef<ref::Tensor> ys, ArrayRef<ref::Tensor> seeds) {
  double sum = 0;
  for (auto [y, seed] : llvm::zip_equal(ys, seeds))
    for (int64_t i = 0; i < y.size(); ++i)
      sum += seed.getDouble(i) * y.getDouble(i);
  return sum;
}

/// Maximum number of elements of an operand that are checked, spread over the whole operand.
constexpr int64_t maxElements = 48;

} // namespace

std::string runCompiled(ModuleOp module, ArrayRef<ref::Tensor> inputs,
                        std::vector<ref::Tensor> &results) {
  Messages messages(*module.getContext());
  std::vector<RankedTensorType> types;
  for (Type type : module.lookupSymbol<func::FuncOp>("main").getResultTypes())
    types.push_back(cast<RankedTensorType>(type));
  auto program = compile(module, CompileOptions());
  if (failed(program) || !*program)
    return "does not compile: " + messages.text;
  try {
    runtime::Session session(*program);
    std::vector<const void *> given;
    std::vector<void *> outputs;
    for (const ref::Tensor &t : inputs)
      given.push_back(t.data());
    for (RankedTensorType type : types) {
      results.push_back(ref::Tensor::empty(type));
      std::memset(results.back().mutableData(), 0x5b, results.back().bytes());
      outputs.push_back(results.back().mutableData());
    }
    session.run(given, outputs);
  } catch (const std::exception &error) {
    return std::string("does not run: ") + error.what();
  }
  return "";
}

std::string checkDifferences(const Case &c, bool second) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  prepareContext(context);
  Messages messages(context);
  Built built = build(context, c, "f64", second);
  if (!built.error.empty())
    return built.error + ": " + messages.text;
  func::FuncOp value = built.function("value");
  size_t operands = value.getNumArguments();
  std::vector<ref::Tensor> inputs(built.inputs.begin(), built.inputs.begin() + operands);
  ArrayRef<ref::Tensor> seeds = ArrayRef(built.inputs).drop_front(operands);
  SmallVector<ref::Tensor> gradients;
  if (failed(ref::evaluate(built.function("main"), built.inputs, gradients)))
    return "gradient: " + messages.text;
  size_t which = 0;
  for (size_t i = 0; i < operands; ++i) {
    if (!inputs[i].isFloat())
      continue;
    const ref::Tensor &gradient = gradients[which++];
    double largest = 0;
    for (int64_t e = 0; e < gradient.size(); ++e)
      largest = std::max(largest, std::fabs(gradient.getDouble(e)));
    int64_t step = std::max<int64_t>(1, inputs[i].size() / maxElements);
    for (int64_t e = 0; e < inputs[i].size(); e += step) {
      double x = inputs[i].getDouble(e), h = 1e-5 * std::max(1.0, std::fabs(x)), sums[2];
      for (int side = 0; side < 2; ++side) {
        inputs[i].setDouble(e, side ? x + h : x - h);
        SmallVector<ref::Tensor> ys;
        if (failed(ref::evaluate(value, inputs, ys)))
          return "value: " + messages.text;
        sums[side] = weighted(ys, seeds);
      }
      inputs[i].setDouble(e, x);
      double want = (sums[1] - sums[0]) / (2 * h), got = gradient.getDouble(e);
      double size = std::max(std::fabs(sums[0]), 1.0) * 1e-9 + largest * 1e-6;
      if (!(std::fabs(got - want) <= size))
        return llvm::formatv("operand {0}, element {1}: gradient {2}, differences {3}", i, e, got,
                             want);
    }
  }
  return "";
}

std::string checkCompiled(const Case &c, const std::string &element, double tolerance) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  prepareContext(context);
  Messages messages(context);
  Built built = build(context, c, element, false);
  if (!built.error.empty())
    return built.error + ": " + messages.text;
  func::FuncOp gradient = built.function("main");
  SmallVector<ref::Tensor> want;
  if (failed(ref::evaluate(gradient, built.inputs, want)))
    return "reference: " + messages.text;
  built.function("value").erase();
  std::vector<ref::Tensor> got;
  if (std::string why = runCompiled(*built.module, built.inputs, got); !why.empty())
    return why;
  for (size_t i = 0; i < got.size(); ++i) {
    std::string why;
    if (!conformance::agree(got[i], want[i], {tolerance, tolerance}, why))
      return llvm::formatv("gradient {0}: {1}", i, why);
  }
  return "";
}

} // namespace dlc::gradtest
