//===- Runner.cpp - compiles and runs conformance cases and checks their results --===//
#include "test/conformance/Runner.h"

#include "codegen/Pipeline.h"
#include "ir/dlc/Dialect.h"
#include "ir/dlc/OperandSegments.h"
#include "ir/reference/Evaluate.h"
#include "runtime/session/Session.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <deque>
#include <functional>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;

namespace dlc::conformance {
namespace {

FailureOr<SmallVector<Value>> buildText(OpBuilder &builder, const Case &c, ValueRange arguments) {
  std::string text = "func.func @f(";
  for (size_t i = 0; i < c.operands.size(); ++i)
    text += (i ? ", %a" : "%a") + std::to_string(i) + ": " + typeText(c.operands[i]);
  text += ") -> (";
  for (size_t i = 0; i < c.resultTypes.size(); ++i)
    text += (i ? ", " : "") + c.resultTypes[i];
  text += ") {" + c.body + "\n}";
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

FailureOr<SmallVector<Value>> buildOp(OpBuilder &builder, const Case &c, ValueRange arguments) {
  MLIRContext *context = builder.getContext();
  Location loc = NameLoc::get(builder.getStringAttr(c.name()));
  Attribute attributes = parseAttribute("{" + c.attributes + "}", context);
  if (!attributes)
    return failure();
  OperationState state(loc, "dlc." + c.op);
  state.addOperands(arguments);
  state.attributes = cast<DictionaryAttr>(attributes);
  // Result types that follow from the operands are inferred by the operation itself, which is
  // created with placeholder types first.
  SmallVector<Type> types;
  for (const std::string &text : c.resultTypes)
    types.push_back(parseType(text, context));
  bool given = !types.empty();
  if (auto value = dyn_cast_or_null<ElementsAttr>(state.attributes.get("value")); value && !given)
    types.assign(1, value.getShapedType()), given = true;
  if (!given)
    types.assign(c.results, RankedTensorType::get({}, builder.getF32Type()));
  state.addTypes(types);
  Operation *op = builder.create(state);
  // Missing optional operands are the last ones.
  llvm::TypeSwitch<Operation *>(op).Case<MatmulOp, ConvOp>(
      [&](auto contraction) { omitLastOperands(contraction.getProperties(), arguments.size()); });
  if (!given) {
    auto infer = dyn_cast<InferTypeOpInterface>(op);
    types.clear();
    if (!infer ||
        failed(infer.inferReturnTypes(context, loc, op->getOperands(), op->getRawDictionaryAttrs(),
                                      op->getPropertiesStorage(), op->getRegions(), types)))
      return failure();
    if (types.size() != op->getNumResults())
      return op->emitError("the table says ")
             << c.results << " results, the operation has " << types.size();
    for (auto [result, type] : llvm::zip(op->getResults(), types))
      result.setType(type);
  }
  if (failed(verify(op)))
    return failure();
  return SmallVector<Value>(op->getResults());
}

} // namespace

FailureOr<Batch> buildBatch(MLIRContext &context, ArrayRef<Case> cases) {
  OpBuilder builder(&context);
  Location loc = builder.getUnknownLoc();
  Batch batch;
  batch.module = ModuleOp::create(loc);
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> names;
  auto nameOf = [&](const Twine &name) {
    return builder.getDictionaryAttr(builder.getNamedAttr("dlc.name", builder.getStringAttr(name)));
  };
  for (const Case &c : cases) {
    batch.places.push_back({types.size(), 0, 0});
    for (const Operand &o : c.operands) {
      auto type = cast<RankedTensorType>(parseType(typeText(o), &context));
      ref::Tensor tensor = ref::Tensor::empty(type);
      fillTensor(tensor, o.fill, types.size() - batch.places.back().firstInput + 17);
      names.push_back(nameOf("x" + Twine(types.size())));
      batch.inputs.push_back(tensor);
      types.push_back(type);
    }
  }
  builder.setInsertionPointToEnd(batch.module->getBody());
  auto function = func::FuncOp::create(builder, loc, "main", builder.getFunctionType(types, {}));
  function.setAllArgAttrs(names);
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToEnd(block);
  SmallVector<Value> results;
  for (auto [c, place] : llvm::zip(cases, batch.places)) {
    ValueRange arguments = block->getArguments().slice(place.firstInput, c.operands.size());
    auto made = c.body.empty() ? buildOp(builder, c, arguments) : buildText(builder, c, arguments);
    if (failed(made))
      return failure();
    place.firstResult = results.size();
    place.results = made->size();
    llvm::append_range(results, *made);
  }
  func::ReturnOp::create(builder, loc, results);
  function.setFunctionType(builder.getFunctionType(types, ValueRange(results).getTypes()));
  for (size_t i = 0; i < results.size(); ++i)
    function.setResultAttr(i, "dlc.name", builder.getStringAttr("y" + Twine(i)));
  if (failed(verify(*batch.module)))
    return failure();
  return batch;
}

namespace {

/// A copy of a tensor between inaccessible pages. It is placed at the beginning of its pages, or at
/// their end as far as an alignment of 64 bytes permits, so that a kernel that reads outside of an
/// input crashes.
class Guarded {
public:
  Guarded(const ref::Tensor &tensor, bool atEnd) {
    const size_t page = size_t(sysconf(_SC_PAGESIZE)), bytes = tensor.bytes(),
                 room = (bytes + page - 1) / page * page;
    size = room + 2 * page;
    base = static_cast<char *>(
        mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (base == MAP_FAILED || (room && mprotect(base + page, room, PROT_READ | PROT_WRITE) != 0))
      llvm::report_fatal_error("conformance: no memory for an input");
    data = base + page + (atEnd ? (room - bytes) / 64 * 64 : 0);
    std::memcpy(data, tensor.data(), bytes);
  }
  ~Guarded() { munmap(base, size); }
  Guarded(const Guarded &) = delete;

  char *data;

private:
  char *base;
  size_t size;
};

/// Compiles and runs the batch and stores the results in `got`. Returns false and the reason in
/// `why` on failure.
bool compileAndRun(Batch &batch, ArrayRef<RankedTensorType> types, const RunnerOptions &options,
                   std::vector<ref::Tensor> &got, std::string &why) {
  auto program = dlc::compile(*batch.module, options.compile);
  if (failed(program) || !*program) {
    why = "does not compile: " + why;
    return false;
  }
  try {
    runtime::Session session(*program);
    std::vector<void *> outputs;
    for (RankedTensorType type : types) {
      got.push_back(ref::Tensor::empty(type));
      // Fills the result with a pattern, so that elements that a kernel does not write are wrong.
      std::memset(got.back().mutableData(), 0x5b, got.back().bytes());
      outputs.push_back(got.back().mutableData());
    }
    for (bool atEnd : {false, true}) {
      std::deque<Guarded> guarded;
      std::vector<const void *> inputs;
      for (const ref::Tensor &t : batch.inputs)
        inputs.push_back(guarded.emplace_back(t, atEnd).data);
      session.run(inputs, outputs);
    }
  } catch (const std::exception &error) {
    why = std::string("does not run: ") + error.what();
    return false;
  }
  return true;
}

void runBatch(MLIRContext &context, ArrayRef<Case> cases, const RunnerOptions &options,
              const std::function<void(const Failure &)> &failed) {
  std::string messages;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
    if (d.getSeverity() == DiagnosticSeverity::Error) {
      if (!messages.empty())
        messages += "; ";
      messages += d.str();
    }
    return success();
  });
  auto each = [&](const std::string &why) {
    if (cases.size() == 1) {
      failed({cases[0].name(), why + messages});
      return;
    }
    for (const Case &c : cases)
      runBatch(context, c, options, failed);
  };
  FailureOr<Batch> batch = buildBatch(context, cases);
  if (mlir::failed(batch))
    return each("is not well formed: ");
  if (options.dump) {
    batch->module->print(llvm::outs());
    // Child processes end with _exit, which does not flush the stream.
    llvm::outs().flush();
  }

  auto function = *batch->module->getOps<func::FuncOp>().begin();
  SmallVector<RankedTensorType> types;
  for (Type type : function.getResultTypes())
    types.push_back(cast<RankedTensorType>(type));
  SmallVector<ref::Tensor> want;
  if (mlir::failed(ref::evaluate(function, batch->inputs, want)))
    return each("reference: ");
  std::vector<ref::Tensor> got;
  std::string why;
  if (!compileAndRun(*batch, types, options, got, why))
    return each(why);
  for (auto [c, place] : llvm::zip(cases, batch->places)) {
    if (c.isStrict && options.compile.accuracy != "strict")
      continue;
    for (size_t r = place.firstResult; r < place.firstResult + place.results; ++r) {
      // Below the strict level, f32 matmuls from bf16 parts and Winograd convolutions have errors
      // of up to 2e-5 of the largest result (docs/guide/precision.md).
      Tolerance tolerance = c.tolerance;
      if (options.compile.accuracy != "strict" && !tolerance.isExtreme &&
          want[r].getElementType().isF32())
        tolerance.ofLargest =
            std::max(tolerance.ofLargest, (tolerance.hidesSums ? 2 : 1) * 2e-5 / 0x1p-23);
      if (!agree(got[r], want[r], tolerance, why)) {
        failed(
            {c.name(),
             (place.results > 1 ? "result " + std::to_string(r - place.firstResult) + ": " : "") +
                 why});
        break;
      }
    }
  }
}

} // namespace

void runCases(MLIRContext &context, ArrayRef<Case> cases, const RunnerOptions &options,
              const std::function<void(const Failure &)> &failed) {
  for (size_t i = 0; i < cases.size(); i += options.batch)
    runBatch(context, cases.slice(i, std::min<size_t>(options.batch, cases.size() - i)), options,
             failed);
}

} // namespace dlc::conformance
