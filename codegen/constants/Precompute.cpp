//===- Precompute.cpp - computes constant expressions with compiled kernels ---===//
#include "codegen/constants/Precompute.h"

#include "ir/dlc/Attributes.h"
#include "passes/simplify/Constants.h"
#include "runtime/program/Program.h"
#include "runtime/session/Session.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dlc {

namespace {

/// Maximum number of elements of one precomputed result, and of the constants that it is computed
/// from.
constexpr int64_t kMaxElements = 256 << 20;

/// Finds the constant expressions to precompute: values that depend only on constants and that the
/// reference evaluator did not fold.
class ConstantExpressionFinder {
public:
  explicit ConstantExpressionFinder(Block &block) {
    for (Operation &op : block)
      if (llvm::all_of(op.getOperands(), [&](Value v) { return follows(v); }) && isComputable(op)) {
        bool isLong = countEvaluatorReads(&op) > kMaxEvaluated;
        for (Value operand : op.getOperands())
          isLong |= longOnes.contains(operand.getDefiningOp());
        known.insert(&op);
        if (isLong)
          longOnes.insert(&op);
      }
    for (Operation *op : known)
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !known.contains(user); }))
          take(result);
  }

  /// Values to precompute. They are read by operations that are not constant, and are too expensive
  /// for the reference evaluator.
  llvm::SetVector<Value> results;

private:
  bool follows(Value value) const {
    Operation *op = value.getDefiningOp();
    return op && (isa<ConstantOp>(op) || known.contains(op));
  }

  static bool isComputable(Operation &op) {
    // An operation whose types name a device is not precomputed, because the model placed it on
    // that device.
    return !isa<ConstantOp>(op) && isEvaluable(&op) &&
           llvm::none_of(llvm::concat<const Type>(op.getOperandTypes(), op.getResultTypes()),
                         [](Type type) { return bool(deviceOf(type)); });
  }

  /// Selects `value` to be precomputed, unless the result is much larger than the constants that it
  /// is computed from: the program stores it as a constant. In that case, considers the operands of
  /// its operation instead.
  void take(Value value) {
    Operation *op = value.getDefiningOp();
    if (!longOnes.contains(op))
      return;
    llvm::SetVector<Operation *> below;
    int64_t read = 0;
    gather(op, below, read);
    int64_t written = cast<RankedTensorType>(value.getType()).getNumElements();
    if (written <= 2 * read && written <= kMaxElements && read <= kMaxElements) {
      results.insert(value);
      return;
    }
    for (Value operand : op->getOperands())
      take(operand);
  }

  static void gather(Operation *op, llvm::SetVector<Operation *> &below, int64_t &read) {
    if (!below.insert(op))
      return;
    if (auto constant = dyn_cast<ConstantOp>(op))
      read += cast<RankedTensorType>(constant.getY().getType()).getNumElements();
    for (Value operand : op->getOperands())
      gather(operand.getDefiningOp(), below, read);
  }

  llvm::SetVector<Operation *> known, longOnes;
};

/// Builds the module that computes `results`. Its inputs are the constants, because a constant in
/// the module would be packed for a single run or folded again.
OwningOpRef<ModuleOp> programOf(func::FuncOp main, ArrayRef<Value> results,
                                SmallVectorImpl<ref::Tensor> &inputs) {
  llvm::SetVector<Operation *> work;
  std::function<void(Operation *)> need = [&](Operation *op) {
    if (work.contains(op))
      return;
    for (Value operand : op->getOperands())
      need(operand.getDefiningOp());
    work.insert(op);
  };
  for (Value result : results)
    need(result.getDefiningOp());
  SmallVector<Type> types;
  SmallVector<Value> constants;
  for (Operation *op : work)
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      std::optional<ref::Tensor> tensor = constantTensor(constant.getY());
      if (!tensor)
        return nullptr;
      // Constants with one element, which may determine shapes and indices, remain constants in the
      // module.
      if (tensor->size() == 1)
        continue;
      inputs.push_back(*tensor);
      constants.push_back(constant.getY());
      types.push_back(constant.getY().getType());
    }
  OwningOpRef<ModuleOp> module = ModuleOp::create(main.getLoc());
  OpBuilder b(module->getContext());
  b.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(b, main.getLoc(), "main",
                                       b.getFunctionType(types, TypeRange(ValueRange(results))));
  Block *block = function.addEntryBlock();
  b.setInsertionPointToEnd(block);
  IRMapping map;
  for (auto [i, constant] : llvm::enumerate(constants)) {
    function.setArgAttr(i, kNameAttr, b.getStringAttr("constant" + Twine(i)));
    map.map(constant, block->getArgument(i));
  }
  for (Operation *op : work)
    if (op->getNumResults() != 1 || !map.contains(op->getResult(0)))
      b.clone(*op, map);
  SmallVector<Value> made;
  for (auto [i, result] : llvm::enumerate(results)) {
    function.setResultAttr(i, kNameAttr, b.getStringAttr("result" + Twine(i)));
    made.push_back(map.lookup(result));
  }
  func::ReturnOp::create(b, main.getLoc(), made);
  return module;
}

/// Returns options for the compilation of constant expressions: those of the model that affect the
/// machine (threads, cache, profile, cancellation), and strict accuracy.
CompileOptions makePrecomputeOptions(const CompileOptions &given) {
  CompileOptions options;
  options.threads = given.threads;
  options.cacheDir = given.cacheDir;
  options.profile = given.profile;
  options.accuracy = "strict";
  options.isCancelled = given.isCancelled;
  return options;
}

} // namespace

bool precomputeConstants(ModuleOp module, const CompileOptions &options,
                         const CompileModule &compile) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal() || !main.getBody().hasOneBlock())
    return false;
  ConstantExpressionFinder work(main.front());
  if (work.results.empty())
    return false;
  ArrayRef<Value> results = work.results.getArrayRef();
  SmallVector<ref::Tensor> inputs, outputs;
  OwningOpRef<ModuleOp> once = programOf(main, results, inputs);
  if (!once)
    return false;
  // Errors in the compilation of constant expressions are not reported. If they also affect the
  // model, the compilation of the model reports them.
  ScopedDiagnosticHandler silence(module.getContext(), [](Diagnostic &) { return success(); });
  auto program = compile(*once, makePrecomputeOptions(options));
  if (failed(program))
    return false;
  try {
    runtime::Session session(*program, runtime::SessionOptions{options.threads});
    std::vector<const void *> from;
    std::vector<void *> to;
    for (const ref::Tensor &input : inputs)
      from.push_back(input.data());
    for (Value result : results) {
      auto type = cast<RankedTensorType>(result.getType());
      outputs.push_back(
          ref::Tensor::empty(RankedTensorType::get(type.getShape(), type.getElementType())));
      to.push_back(outputs.back().mutableData());
    }
    session.run(from, to);
  } catch (const std::exception &) {
    return false;
  }
  for (auto [result, output] : llvm::zip(results, outputs)) {
    OpBuilder b(result.getContext());
    b.setInsertionPointAfter(result.getDefiningOp());
    Value constant =
        makeConstant(b, result.getLoc(), output, cast<RankedTensorType>(result.getType()));
    Value from = result;
    from.replaceAllUsesWith(constant);
  }
  return true;
}

} // namespace dlc
