//===- ChannelStatistics.cpp - statistics of a convolution's channels -----===//
#include "codegen/providers/ChannelStatistics.h"

#include "passes/TensorBuilder.h"

using namespace mlir;

namespace dlc {

namespace {

/// Returns true if `v` has one element per channel of `y`, stored contiguously.
bool isPerChannel(Value v, Value y) {
  return typeOf(v).getNumElements() == shapeOf(y)[1] && layoutOf(v.getType()).empty();
}

struct StatisticsMatcher {
  Value y;
  ChannelStatisticsMatch found;
  llvm::SmallPtrSet<Operation *, 8> ops;

  bool isFirst(Operation *op) const {
    auto slice = dyn_cast<SliceOp>(op);
    return slice && llvm::all_of(slice.getStart(), [](int64_t at) { return at == 0; }) &&
           shapeOf(slice.getY())[1] == shapeOf(y)[1] && isPerChannel(slice.getY(), y);
  }

  bool isMean(Operation *op) const {
    auto reduce = dyn_cast<ReduceOp>(op);
    return reduce && reduce.getKind() == ReduceKind::mean && isPerChannel(reduce.getY(), y) &&
           reduce.getAxes() == ArrayRef<int64_t>{0, 2, 3};
  }

  /// Records the result of `op` in `place`. Returns false if `place` already has the result of
  /// another op.
  bool take(Operation *op, Value &place) {
    if (!place)
      place = op->getResult(0);
    ops.insert(op);
    return place == op->getResult(0);
  }

  /// Matches the ops that compute the mean of `from` (a difference from the channel's first
  /// element) and the mean of its square. If `squared`, `from` is that square, and only its mean is
  /// matched.
  bool readMeans(Operation *from, bool squared) {
    ops.insert(from);
    for (Operation *user : from->getUsers()) {
      auto mul = dyn_cast<MulOp>(user);
      if (mul && !squared && mul.getA() == mul.getB()) {
        if (!readMeans(mul, true))
          return false;
      } else if (!isMean(user) || !take(user, squared ? found.square : found.shift)) {
        return false;
      }
    }
    return true;
  }

  bool read() {
    if (typeOf(y).getRank() != 4 || !typeOf(y).hasStaticShape() ||
        !typeOf(y).getElementType().isF32())
      return false;
    for (Operation *user : y.getUsers())
      if (isFirst(user) && !take(user, found.first))
        return false;
    for (Operation *user : y.getUsers()) {
      auto sub = dyn_cast<SubOp>(user);
      bool isDifference = sub && found.first && sub.getA() == y && sub.getB() == found.first;
      if (isDifference ? !readMeans(sub, false) : !isFirst(user) && !isa<YieldOp>(user))
        return false;
    }
    for (Operation &op : *y.getParentBlock())
      if (ops.contains(&op))
        found.ops.push_back(&op);
    return found.first && found.shift && found.square;
  }
};

} // namespace

std::optional<ChannelStatisticsMatch> matchChannelStatistics(Value y) {
  StatisticsMatcher reader{y, {}, {}};
  return reader.read() ? std::optional(std::move(reader.found)) : std::nullopt;
}

} // namespace dlc
