//===- SmallUpdates.cpp - updates several small states in one kernel ------===//
//
// Biases, scales and shifts have a few hundred elements each, and counters have one. Updating each
// of them in a kernel of its own is dominated by launch overhead. Updates of the same size become
// one kernel if they do not depend on each other.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/Shape.h"
#include "passes/Devices.h"
#include "passes/fuse/epilogue/StateUpdate.h"
#include "passes/fuse/grouping/FuseSteps.h"

using namespace mlir;

namespace dlc {
namespace {

/// Maximum number of elements of a state whose update is merged with others. Larger updates occupy
/// all cores by themselves, and merging them would retain their gradients in memory until all are
/// available.
constexpr int64_t maxElements = 1 << 12;
/// Maximum number of inputs of one merged kernel. If there are enough registers, all inputs are in
/// registers at the same time.
constexpr int64_t maxInputs = 64;

bool isNewStateValue(Value value) {
  for (Operation *op : value.getUsers())
    if (op->hasTrait<OpTrait::IsTerminator>())
      for (Value argument : op->getBlock()->getArguments())
        if (isStateUpdate(argument, value))
          return true;
  return false;
}

/// Returns the type of the states that the group updates by elementwise operations, or null for
/// other groups.
RankedTensorType getUpdatedStateType(const Grouping &grouping, int number) {
  const Grouping::Group &group = grouping[number];
  SmallVector<Value> outputs = grouping.outputsOf(number);
  if (group.closed || group.ops.empty() || outputs.empty())
    return {};
  auto type = typeOf(outputs.front());
  OnAttr device = deviceOf(type);
  if (type.getRank() > 1 || !type.hasStaticShape() || staticElements(type) > maxElements ||
      staticElements(type) == 0 ||
      (device && !can(device, DLC_DEVICE_HOST_CODE) && !can(device, DLC_DEVICE_GPU_CODE)))
    return {};
  // Groups that also compute scalars are accepted: an optimizer computes the learning rate or the
  // factor of gradient clipping in the kernel of the update.
  for (Operation *op : group.ops)
    if (!op->hasTrait<Elementwise>() || op->getNumResults() != 1 ||
        (!shapeOf(op->getResult(0)).empty() && shapeOf(op->getResult(0)) != staticShape(type)))
      return {};
  for (Value output : outputs)
    if (output.getType() != type || !isNewStateValue(output))
      return {};
  return type;
}

bool fit(Grouping &grouping, int group, int other) {
  SmallVector<Operation *> ops(grouping[group].ops.getArrayRef());
  llvm::append_range(ops, grouping[other].ops);
  auto inputs = grouping.inputsOf(group);
  for (Value input : grouping.inputsOf(other))
    inputs.insert(input);
  return int64_t(inputs.size()) <= maxInputs && int(ops.size()) <= 2 * maxFusionOps &&
         grouping.haveSameDependencies(ops) && !grouping.makesCycle(group, other);
}

} // namespace

void mergeSmallUpdates(Grouping &grouping) {
  // By type of state: number of the group into which further groups that update states of this type
  // are merged, until its kernel reaches the size limits.
  SmallVector<std::pair<RankedTensorType, int>> open;
  for (int number = 0; number < grouping.size(); ++number) {
    RankedTensorType type = getUpdatedStateType(grouping, number);
    if (!type)
      continue;
    auto found = llvm::find_if(open, [&](auto &each) { return each.first == type; });
    if (found == open.end())
      open.push_back({type, number});
    else if (fit(grouping, found->second, number))
      grouping.merge(found->second, number);
    else
      found->second = number;
  }
}

} // namespace dlc
