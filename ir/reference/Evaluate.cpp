//===- Evaluate.cpp - evaluates dlc functions with the reference evaluator ---===//
#include "ir/reference/Evaluate.h"

#include "ir/dlc/Attributes.h"
#include "ir/dlc/Dialect.h"
#include "ir/reference/Control.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace dlc::ref {

/// Limit of the size of a result: 64 GiB. Larger results are an error, because no intended
/// evaluation comes near the limit.
static constexpr int64_t largestResultBytes = int64_t(1) << 36;

/// Checks that the declared size of each result is below the limit of 64 GiB.
static LogicalResult checkResultSizes(Operation *op) {
  for (Type result : op->getResultTypes()) {
    auto type = dyn_cast<RankedTensorType>(result);
    if (!type || !type.hasStaticShape() || !findElement(type.getElementType()))
      continue;
    // The size in bytes is computed as a double, because the product of the dimensions may overflow
    // 64 bits.
    Type element = type.getElementType();
    double bytes = isPackedElement(element) ? 0.5 : double(elementBytes(element));
    for (int64_t d : type.getShape())
      bytes *= double(d);
    if (bytes > double(largestResultBytes))
      return op->emitOpError("is not evaluated: its result ")
             << type << " takes more than " << largestResultBytes << " bytes";
  }
  return success();
}

/// Checks that the evaluated results have the declared types. A difference is a bug in the
/// operation's inference or evaluation.
static LogicalResult checkResults(Operation *op, ArrayRef<Tensor> outputs) {
  if (outputs.size() != op->getNumResults())
    return op->emitOpError("was evaluated to ")
           << outputs.size() << " results, but declares " << op->getNumResults();
  for (auto [output, result] : llvm::zip(outputs, op->getResults())) {
    auto declared = dyn_cast<RankedTensorType>(result.getType());
    if (!declared || declared.getElementType() != output.getElementType() ||
        failed(verifyCompatibleShape(declared.getShape(), output.getShape())))
      return op->emitOpError("was evaluated to ")
             << output.getType() << ", but declares " << result.getType();
  }
  return success();
}

LogicalResult evaluateOp(Operation *op, ArrayRef<Tensor> inputs, function_ref<Tensor(Value)> outer,
                         SmallVectorImpl<Tensor> &outputs) {
  if (failed(checkResultSizes(op)))
    return failure();
  LogicalResult done = failure();
  if (auto branch = dyn_cast<IfOp>(op))
    done = evaluateIf(branch, inputs, outer, outputs);
  else if (auto loop = dyn_cast<LoopOp>(op))
    done = evaluateLoop(loop, inputs, outer, outputs);
  else if (auto reference = dyn_cast<ReferenceInterface>(op))
    done = reference.evaluate(inputs, outputs);
  else
    return op->emitOpError("cannot be evaluated: it is not an operation of the dlc dialect");
  if (failed(done))
    return failure();
  return checkResults(op, outputs);
}

namespace {
/// Values of one block during its evaluation. Each tensor is released after its last use.
class BlockValues {
public:
  BlockValues(Block &block, function_ref<Tensor(Value)> outer) : block(block), outer(outer) {}

  void define(Value value, const Tensor &tensor) {
    if (value.use_empty())
      return;
    values[value] = tensor;
    uses[value] = unsigned(std::distance(value.use_begin(), value.use_end()));
  }

  Tensor find(Value value) const {
    if (auto it = values.find(value); it != values.end())
      return it->second;
    return outer && value.getParentBlock() != &block ? outer(value) : Tensor();
  }

  /// Marks the uses by `op` and its regions as done, and releases the tensors without remaining
  /// uses.
  void release(Operation *op) {
    op->walk([&](Operation *user) {
      for (Value operand : user->getOperands())
        if (auto it = uses.find(operand); it != uses.end() && --it->second == 0) {
          values.erase(operand);
          uses.erase(it);
        }
    });
  }

private:
  Block &block;
  function_ref<Tensor(Value)> outer;
  DenseMap<Value, Tensor> values;
  DenseMap<Value, unsigned> uses;
};
} // namespace

LogicalResult evaluateBlock(Block &block, ArrayRef<Tensor> arguments,
                            function_ref<Tensor(Value)> outer, SmallVectorImpl<Tensor> &yielded) {
  if (block.getNumArguments() != arguments.size()) {
    Operation *parent = block.getParentOp();
    return parent->emitOpError("has a region of ")
           << block.getNumArguments() << " arguments; found: " << arguments.size() << " values";
  }
  BlockValues scope(block, outer);
  for (auto [argument, tensor] : llvm::zip(block.getArguments(), arguments))
    scope.define(argument, tensor);
  for (Operation &op : block) {
    SmallVector<Tensor> inputs, outputs;
    for (Value operand : op.getOperands()) {
      inputs.push_back(scope.find(operand));
      if (!inputs.back())
        return op.emitOpError(
            "cannot be evaluated: it uses a value from outside its region, which is not known");
    }
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      yielded.append(inputs);
      return success();
    }
    auto visible = [&](Value value) { return scope.find(value); };
    if (failed(evaluateOp(&op, inputs, visible, outputs)))
      return failure();
    inputs.clear();
    for (auto [result, tensor] : llvm::zip(op.getResults(), outputs))
      scope.define(result, tensor);
    scope.release(&op);
  }
  return success();
}

LogicalResult evaluate(FunctionOpInterface function, ArrayRef<Tensor> inputs,
                       SmallVectorImpl<Tensor> &outputs) {
  if (function.isExternal())
    return function.emitOpError(
        "has no body that can be evaluated; define the function in this module");
  if (!function.getFunctionBody().hasOneBlock())
    return function.emitOpError(
        "needs one block to be evaluated; use dlc.if and dlc.loop for control flow");
  if (function.getNumArguments() != inputs.size())
    return function.emitOpError("needs ")
           << function.getNumArguments() << " inputs, found " << inputs.size();
  for (auto [i, input] : llvm::enumerate(inputs)) {
    auto declared = dyn_cast<RankedTensorType>(function.getArgumentTypes()[i]);
    if (!declared || declared.getElementType() != input.getElementType() ||
        failed(verifyCompatibleShape(declared.getShape(), input.getShape())))
      return function.emitOpError("needs ") << function.getArgumentTypes()[i] << " as input " << i
                                            << ", found " << input.getType();
  }
  return evaluateBlock(function.getFunctionBody().front(), inputs, nullptr, outputs);
}

void truncateDynamicResults(FunctionOpInterface function, SmallVectorImpl<Tensor> &results) {
  SmallVector<bool> counts(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    auto counted =
        dyn_cast_or_null<DenseI64ArrayAttr>(function.getResultAttr(unsigned(i), kCountedAttr));
    if (!counted)
      continue;
    counts[size_t(counted[1])] = true;
    SmallVector<int64_t> shape(results[i].getShape());
    shape[size_t(counted[0])] = results[size_t(counted[1])].getInt(0);
    Tensor found = Tensor::empty(RankedTensorType::get(shape, results[i].getElementType()));
    if (found.bytes() > 0)
      std::memcpy(found.mutableData(), results[i].data(), size_t(found.bytes()));
    results[i] = found;
  }
  size_t kept = 0;
  for (size_t i = 0; i < results.size(); ++i)
    if (!counts[i])
      results[kept++] = results[i];
  results.truncate(kept);
}

} // namespace dlc::ref
