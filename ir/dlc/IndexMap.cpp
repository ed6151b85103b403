//===- IndexMap.cpp - maps from result elements to operand elements -------===//
#include "ir/dlc/IndexMap.h"

using namespace mlir;

namespace dlc {

void OperandRead::guard(const IndexExpr &place, int64_t size, int64_t by) {
  if (by > 1 || !place.isWithin(size))
    guards.push_back({place, size, by});
}

void SlidingWindow::from(ArrayRef<IndexExpr> p, ArrayRef<IndexExpr> k, ArrayRef<int64_t> image,
                         OperandRead &read) const {
  for (size_t d = 0; d < image.size(); ++d) {
    read.at.push_back(p[d] * strides[d] + k[d] * dilations[d] - low[d]);
    read.guard(read.at.back(), image[d]);
  }
}

void SlidingWindow::back(ArrayRef<IndexExpr> y, ArrayRef<IndexExpr> k, ArrayRef<int64_t> positions,
                         IndexContext &x, OperandRead &read) const {
  for (size_t d = 0; d < positions.size(); ++d) {
    // Solves y + low = stride * p + dilation * k for the output position p = q / stride. The guard
    // holds only if the stride divides q.
    IndexExpr q = y[d] + low[d] - k[d] * dilations[d];
    read.at.push_back(x.divide(q, strides[d]));
    read.guard(q, positions[d], strides[d]);
  }
}

SmallVector<int64_t> foldedExtents(Operation *op) {
  auto mapped = dyn_cast<IndexMapped>(op);
  return mapped ? mapped.foldedExtents() : SmallVector<int64_t>();
}

SmallVector<OperandRead, 2> readsOf(Operation *op, IndexContext &x, ArrayRef<IndexExpr> at,
                                    ArrayRef<IndexExpr> over, IndexMap::Load load) {
  IndexMap map{x, at, over, load, {}};
  if (op->hasTrait<Elementwise>()) {
    for (OpOperand &operand : op->getOpOperands())
      map.read(operand.getOperandNumber(),
               broadcastIndex(cast<RankedTensorType>(operand.get().getType()).getShape(), at,
                              IndexExpr()));
    return map.reads;
  }
  cast<IndexMapped>(op).mapIndices(map);
  if (!op->hasTrait<ElementMove>())
    return map.reads;
  // Drops the reads whose guards never hold, and all reads after the first read without guards,
  // which always applies.
  SmallVector<OperandRead, 2> reads;
  for (OperandRead &read : map.reads) {
    bool never = llvm::any_of(read.guards, [](const IndexGuard &guard) {
      return guard.place.high() < 0 || guard.place.low() >= guard.size * guard.by;
    });
    if (!never)
      reads.push_back(std::move(read));
    if (!never && reads.back().guards.empty())
      break;
  }
  return reads;
}

std::optional<Coordinates> getSourceIndex(Operation *op, IndexContext &x, ArrayRef<IndexExpr> at) {
  if (!op->hasTrait<ElementMove>())
    return std::nullopt;
  bool loads = false;
  auto load = [&](Value, const Coordinates &, int64_t) {
    loads = true;
    return IndexExpr();
  };
  auto reads = readsOf(op, x, at, {}, load);
  if (loads || reads.size() != 1 || reads.front().operand != 0)
    return std::nullopt;
  return reads.front().at;
}

std::optional<int64_t> getContiguousOffset(Operation *op) {
  if (!op->hasTrait<ElementMove>())
    return std::nullopt;
  auto shapeOf = [](Value v) { return cast<RankedTensorType>(v.getType()).getShape(); };
  // An empty result has no first element, and thus no offset.
  if (llvm::is_contained(shapeOf(op->getResult(0)), 0))
    return std::nullopt;
  IndexContext x;
  Coordinates at = x.variables("d", shapeOf(op->getResult(0)));
  auto moved = getSourceIndex(op, x, at);
  if (!moved)
    return std::nullopt;
  IndexExpr distance =
      x.linear(shapeOf(op->getOperand(0)), *moved) - x.linear(shapeOf(op->getResult(0)), at);
  return distance.isConstant() ? std::optional(distance.constant) : std::nullopt;
}

} // namespace dlc
