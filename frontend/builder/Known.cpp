//===- Known.cpp - evaluates values at import -----------------------------===//
#include "frontend/builder/Build.h"

#include "frontend/builder/State.h"

#include "ir/reference/Evaluate.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace dlc::frontend {

std::optional<ref::Tensor> Build::known(Value v) {
  if (!v)
    return std::nullopt;
  if (auto it = tensors.find(v); it != tensors.end())
    return it->second;
  // A tensor without elements is constant whatever computes it.
  if (count(v) == 0)
    return ref::Tensor::empty(type(v));
  auto op = v.getDefiningOp<ConstantOp>();
  if (!op || count(v) > foldLimit)
    return std::nullopt;
  auto tensor = ref::Tensor::fromAttr(op.getValue());
  if (mlir::failed(tensor))
    return std::nullopt;
  return tensors[v] = *tensor;
}

/// Collects the values that are defined outside of an operation and used inside its regions.
static void collectCapturedValues(Operation *op, SmallVectorImpl<Value> &values) {
  op->walk([&](Operation *inner) {
    if (inner == op)
      return;
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
        values.push_back(operand);
  });
}

void Build::orderOperations(Value root, SmallVectorImpl<Operation *> &order,
                            llvm::SetVector<StringRef> &inputs, std::string &reason) {
  llvm::SmallPtrSet<Operation *, 32> seen;
  SmallVector<std::pair<Value, bool>> stack{{root, false}};
  while (!stack.empty()) {
    auto [v, done] = stack.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(v)) {
      if (const ref::Tensor *start = state ? state->pin(v) : nullptr)
        tensors[v] = *start;
      else if (argument.getOwner() == entry && count(v) > needLimit && reason.empty()) {
        reason = "it depends on the values of '" + inputName(argument).str() + "', which has " +
                 std::to_string(count(v)) + " elements; at most " + std::to_string(needLimit) +
                 " can be bound";
      } else if (argument.getOwner() == entry) {
        inputs.insert(inputName(argument));
      } else if (reason.empty()) {
        reason = "it depends on the iteration of a loop";
      }
      continue;
    }
    Operation *op = v.getDefiningOp();
    if (done) {
      order.push_back(op);
      continue;
    }
    if (tensors.count(v) || !seen.insert(op).second)
      continue;
    stack.push_back({v, true});
    SmallVector<Value> from(op->getOperands());
    collectCapturedValues(op, from);
    for (Value operand : from)
      stack.push_back({operand, false});
  }
}

bool Build::evaluate(Operation *op, std::string &reason) {
  SmallVector<ref::Tensor> operands, results;
  auto constant = dyn_cast<ConstantOp>(op);
  // Large weights in blobs are allowed because they are read in place. A large splat is not,
  // because it would be expanded.
  for (Value result : op->getResults())
    if (count(result) > needLimit &&
        !(constant && isa<DenseResourceElementsAttr>(constant.getValue()))) {
      reason = "its computation has an intermediate result of " + std::to_string(count(result)) +
               " elements; at most " + std::to_string(needLimit) + " are computed at import";
      return false;
    }
  if (constant) {
    auto tensor = ref::Tensor::fromAttr(constant.getValue());
    if (mlir::failed(tensor)) {
      reason = "the data of a constant operand is missing in the model";
      return false;
    }
    tensors[constant.getResult()] = *tensor;
    return true;
  }
  for (Value operand : op->getOperands())
    operands.push_back(tensors.lookup(operand));
  auto outer = [&](Value v) { return tensors.lookup(v); };
  bool evaluated = quietly(
      reason, [&] { return mlir::succeeded(ref::evaluateOp(op, operands, outer, results)); });
  if (!evaluated || results.size() != op->getNumResults()) {
    if (reason.empty())
      reason = "it cannot be computed";
    return false;
  }
  reason.clear();
  for (auto [value, tensor] : llvm::zip(op->getResults(), results))
    tensors[value] = tensor;
  return true;
}

std::optional<ref::Tensor> Build::compute(Value root, std::string &reason) {
  SmallVector<Operation *> order;
  llvm::SetVector<StringRef> inputs;
  orderOperations(root, order, inputs, reason);
  if (!reason.empty())
    return std::nullopt;
  if (!inputs.empty()) {
    std::string names;
    for (StringRef name : inputs)
      names += (names.empty() ? "'" : ", '") + name.str() + "'";
    if (!silent)
      needed.insert(inputs.begin(), inputs.end());
    reason = "it depends on the value of " + names + "; bind " +
             (inputs.size() == 1 ? "this input" : "these inputs") +
             " to compile a program for that value";
    return std::nullopt;
  }
  for (Operation *op : order)
    if (!evaluate(op, reason))
      return std::nullopt;
  auto it = tensors.find(root);
  return it == tensors.end() ? std::nullopt : std::optional(it->second);
}

std::optional<ref::Tensor> Build::attempt(Value v) {
  if (!ok() || !v || count(v) > needLimit)
    return std::nullopt;
  if (auto tensor = known(v))
    return tensor;
  llvm::SaveAndRestore quiet(silent, true);
  std::string reason;
  return compute(v, reason);
}

std::optional<ref::Tensor> Build::need(Value v, const Twine &what) {
  if (!ok())
    return std::nullopt;
  if (!v) {
    error(what + " is required, and the node does not have that input");
    return std::nullopt;
  }
  if (auto tensor = known(v))
    return tensor;
  std::string reason;
  if (count(v) > needLimit)
    reason = "it has " + std::to_string(count(v)) + " elements, and at most " +
             std::to_string(needLimit) + " can be";
  else if (auto tensor = compute(v, reason))
    return tensor;
  error(what + " must be known when the model is imported: " + reason);
  return std::nullopt;
}

Dims Build::needInts(Value v, const Twine &what) {
  Dims result;
  if (v && !require(rank(v) <= 1, what + " must be a vector; required: rank 1; found: rank " +
                                      Twine(rank(v)) + "; reshape the tensor"))
    return result;
  if (auto tensor = need(v, what))
    for (int64_t i = 0; i < tensor->size(); ++i)
      result.push_back(tensor->getInt(i));
  return result;
}

int64_t Build::needInt(Value v, const Twine &what) {
  Dims values = needInts(v, what);
  if (ok() && values.size() != 1)
    error(what + " must have one element, and has " + Twine(values.size()));
  return values.size() == 1 ? values[0] : 0;
}

double Build::needDouble(Value v, const Twine &what) {
  auto tensor = need(v, what);
  if (ok() && tensor->size() != 1)
    error(what + " must have one element, and has " + Twine(tensor->size()));
  return ok() ? tensor->getDouble(0) : 0;
}

} // namespace dlc::frontend
