//===- FoldPad.cpp - folds padding into the following convolution or pool ---===//
#include "passes/TensorBuilder.h"
#include "passes/simplify/Patterns.h"

#include <cmath>

using namespace mlir;

namespace dlc {
namespace {

/// Padding amounts of a pad operation that pads only spatial dimensions, and removes no elements by
/// negative amounts.
struct SpatialPad {
  SmallVector<int64_t> low, high;
};

std::optional<SpatialPad> matchSpatialPad(PadOp pad, bool (*acceptsValue)(double)) {
  std::optional<double> value = pad ? splatValue(pad.getValue()) : std::nullopt;
  if (!value || pad.getMode() != PadMode::constant || !acceptsValue(*value) ||
      pad.getLow().size() < 3)
    return std::nullopt;
  for (auto [d, both] : llvm::enumerate(llvm::zip(pad.getLow(), pad.getHigh()))) {
    auto [low, high] = both;
    if (low < 0 || high < 0 || (d < 2 && (low != 0 || high != 0)))
      return std::nullopt;
  }
  return SpatialPad{llvm::to_vector(pad.getLow().drop_front(2)),
                    llvm::to_vector(pad.getHigh().drop_front(2))};
}

SmallVector<int64_t> sumPadding(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> sum(a);
  for (auto [s, other] : llvm::zip(sum, b))
    s += other;
  return sum;
}

// conv(pad(x, 0)) -> conv(x) with larger padding
struct PadIntoConv : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvOp op, PatternRewriter &rewriter) const override {
    auto pad = op.getX().getDefiningOp<PadOp>();
    auto spatial = matchSpatialPad(pad, [](double value) { return value == 0; });
    if (!spatial || op.getXZeroPoint())
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.setLow(sumPadding(op.getLow(), spatial->low));
      op.setHigh(sumPadding(op.getHigh(), spatial->high));
      op.getXMutable().assign(pad.getX());
    });
    return success();
  }
};

// max_pool(pad(x, -inf)) -> max_pool(x) with larger padding
struct PadIntoMaxPool : OpRewritePattern<MaxPoolOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MaxPoolOp op, PatternRewriter &rewriter) const override {
    auto pad = op.getX().getDefiningOp<PadOp>();
    auto spatial =
        matchSpatialPad(pad, [](double value) { return std::isinf(value) && value < 0; });
    if (!spatial)
      return failure();
    SmallVector<int64_t> low = sumPadding(op.getLow(), spatial->low);
    SmallVector<int64_t> high = sumPadding(op.getHigh(), spatial->high);
    // Not applied if a window contains only padding, because libraries then leave the maximum
    // undefined instead of -inf.
    for (auto [l, h, w, d] : llvm::zip(low, high, op.getWindow(), op.getDilations()))
      if (std::max(l, h) > (w - 1) * d)
        return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.setLow(low);
      op.setHigh(high);
      op.getXMutable().assign(pad.getX());
    });
    return success();
  }
};

} // namespace

void addPadFolding(RewritePatternSet &patterns) {
  patterns.add<PadIntoConv, PadIntoMaxPool>(patterns.getContext());
}

} // namespace dlc
