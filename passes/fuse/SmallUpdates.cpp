//===- SmallUpdates.cpp - updates of many small states in one launch ------===//
//
// Biases, scales and shifts have a few hundred elements each, counters one, and an update of their
// own would be a launch of its own. Those of one size walk together: they read and write nothing in
// common, and none waits for another.
//
//===----------------------------------------------------------------------===//
#include "passes/Devices.h"
#include "passes/fuse/FuseSteps.h"
#include "passes/fuse/StateUpdate.h"

using namespace mlir;

namespace dlc {
namespace {

/// Larger ones feed all cores by themselves, and their gradients would wait for one another in
/// memory.
constexpr int64_t mostElements = 1 << 12;
/// Of one kernel: all are in registers at the same time, as far as these go.
constexpr int64_t mostInputs = 64;

bool replacesState(Value value) {
  for (Operation *op : value.getUsers())
    if (op->hasTrait<OpTrait::IsTerminator>())
      for (Value argument : op->getBlock()->getArguments())
        if (isStateUpdate(argument, value))
          return true;
  return false;
}

/// The type of the states that the group's elementwise work updates; null for other groups.
RankedTensorType updatedType(const Grouping &grouping, int number) {
  const Grouping::Group &group = grouping[number];
  SmallVector<Value> outputs = grouping.outputsOf(number);
  if (group.closed || group.ops.empty() || outputs.empty())
    return {};
  auto type = typeOf(outputs.front());
  OnAttr device = deviceOf(type);
  if (type.getRank() > 1 || !type.hasStaticShape() || type.getNumElements() > mostElements ||
      type.getNumElements() == 0 ||
      (device && !can(device, DLC_DEVICE_HOST_CODE) && !can(device, DLC_DEVICE_GPU_CODE)))
    return {};
  // Scalars may be computed on the way: a rate, or what clips gradients.
  for (Operation *op : group.ops)
    if (!op->hasTrait<Elementwise>() || op->getNumResults() != 1 ||
        (!shapeOf(op->getResult(0)).empty() && shapeOf(op->getResult(0)) != type.getShape()))
      return {};
  for (Value output : outputs)
    if (output.getType() != type || !replacesState(output))
      return {};
  return type;
}

bool fit(Grouping &grouping, int group, int other) {
  SmallVector<Operation *> ops(grouping[group].ops.getArrayRef());
  llvm::append_range(ops, grouping[other].ops);
  auto inputs = grouping.inputsOf(group);
  for (Value input : grouping.inputsOf(other))
    inputs.insert(input);
  return int64_t(inputs.size()) <= mostInputs && int(ops.size()) <= 2 * maxFusionOps &&
         grouping.waitAlike(ops) && !grouping.makesCycle(group, other);
}

} // namespace

void mergeSmallUpdates(Grouping &grouping) {
  SmallVector<std::pair<RankedTensorType, int>> open; // to be joined by others of the type
  for (int number = 0; number < grouping.size(); ++number) {
    RankedTensorType type = updatedType(grouping, number);
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
