//===- Taps.cpp - removes convolution window elements that read only padding ---===//
#include "ir/dlc/Shape.h"
#include "passes/TensorBuilder.h"
#include "passes/simplify/Patterns.h"

using namespace mlir;

namespace dlc {
namespace {

/// Returns whether, in one dimension, the window element `tap` reads an element of the image, and
/// not just padding, for any of the `results` positions.
bool meetsImage(int64_t tap, int64_t results, int64_t size, int64_t stride, int64_t dilation,
                int64_t low) {
  int64_t offset = tap * dilation - low; // input index for the first result
  int64_t first = offset < 0 ? (-offset + stride - 1) / stride : 0;
  return first < results && first * stride + offset < size;
}

// conv(x, w) -> conv(x, slice(w)) without the outer window elements that only ever read padding.
// Networks for large images have such window elements if they are applied to small images, because
// a dilation may be as large as the image.
struct DropPaddingOnlyTaps : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvOp op, PatternRewriter &rewriter) const override {
    RankedTensorType x = typeOf(op.getX()), w = typeOf(op.getW()), y = typeOf(op.getY());
    if (!x.hasStaticShape() || !w.hasStaticShape() || !y.hasStaticShape() || staticElements(y) == 0)
      return failure();
    auto low = llvm::to_vector(op.getLow()), high = llvm::to_vector(op.getHigh()),
         dilations = llvm::to_vector(op.getDilations());
    SmallVector<int64_t> start(w.getRank(), 0), size(staticShape(w)), stride(w.getRank(), 1);
    for (size_t d = 0; d < low.size(); ++d) {
      auto isPadding = [&, padding = low[d]](int64_t tap) {
        return !meetsImage(tap, staticDim(y, d + 2), staticDim(x, d + 2), op.getStrides()[d],
                           dilations[d], padding);
      };
      int64_t begin = 0, end = staticDim(w, d + 2);
      for (; begin + 1 < end && low[d] >= dilations[d] && isPadding(begin); ++begin)
        low[d] -= dilations[d];
      for (; begin + 1 < end && high[d] >= dilations[d] && isPadding(end - 1); --end)
        high[d] -= dilations[d];
      start[d + 2] = begin;
      size[d + 2] = end - begin;
      if (end - begin == 1)
        dilations[d] = 1;
    }
    if (ArrayRef<int64_t>(size) == staticShape(w) &&
        ArrayRef<int64_t>(dilations) == op.getDilations())
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    Value taps = ArrayRef<int64_t>(size) == staticShape(w)
                     ? op.getW()
                     : b.make<SliceOp>(op.getW(), start, size, stride);
    rewriter.modifyOpInPlace(op, [&] {
      op.getWMutable().assign(taps);
      op.setDilations(dilations);
      op.setLow(low);
      op.setHigh(high);
    });
    return success();
  }
};

} // namespace

void addTaps(RewritePatternSet &patterns) {
  patterns.add<DropPaddingOnlyTaps>(patterns.getContext());
}

} // namespace dlc
