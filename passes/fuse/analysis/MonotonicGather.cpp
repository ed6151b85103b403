//===- MonotonicGather.cpp - monotonic gathers with steps of 0 or 1 -------===//
#include "passes/fuse/analysis/MonotonicGather.h"

#include "ir/dlc/Attributes.h"
#include "ir/dlc/Shape.h"
#include "passes/Devices.h"
#include "passes/simplify/Constants.h"

using namespace mlir;

namespace dlc {

namespace {

bool hasMonotonicIndices(GatherOp gather) {
  RankedTensorType x = typeOf(gather.getX()), indices = typeOf(gather.getIndices());
  constexpr int64_t most = 1 << 20;
  if (!layoutOf(x).empty() || !x.hasStaticShape() || indices.getRank() != 1 ||
      !indices.hasStaticShape() || staticElements(indices) > most)
    return false;
  std::optional<ref::Tensor> places = constantTensor(gather.getIndices());
  if (!places || places->size() == 0)
    return false;
  for (int64_t i = 1; i < places->size(); ++i)
    if (int64_t step = places->getInt(i) - places->getInt(i - 1); step < 0 || step > 1)
      return false;
  return places->getInt(0) >= 0 &&
         places->getInt(places->size() - 1) < staticDim(x, int64_t(gather.getAxis()));
}

} // namespace

void markMonotonicGathers(Block &block) {
  for (auto gather : block.getOps<GatherOp>())
    if (can(deviceOf(gather.getType()), DLC_DEVICE_HOST_CODE) && hasMonotonicIndices(gather))
      gather->setAttr(kMonotonicAttr, UnitAttr::get(gather.getContext()));
}

} // namespace dlc
