//===- FewChannels.cpp - convolutions with few output channels as shifted matmuls ----===//
//
// Libraries vectorize over output channels, so that most lanes are unused if there are few.
// Instead, a single matmul computes the contribution of each window element at each position of the
// image, vectorized over positions. The results are sums of these contributions, shifted.
//
//===----------------------------------------------------------------------===//
#include "passes/layout/Alternatives.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace dlc {

namespace {

using Shape = SmallVector<int64_t>;

/// Returns the contribution of the window element `tap` to the convolution's result: its slice of
/// `products` [N, taps, O, ..], shifted to the positions of the result. Returns null if the window
/// element only reads padding.
Value shiftTapProducts(ConvOp op, Value products, int64_t tap, AlternativeBuilder &b) {
  ArrayRef<int64_t> x = shapeOf(op.getX()), w = shapeOf(op.getW()), y = shapeOf(op.getY());
  Shape start{0, tap, 0}, size{x[0], 1, y[1]}, part{x[0], y[1]}, low{0, 0}, high{0, 0};
  for (size_t d = w.size(), rest = size_t(tap); d-- > 2; rest /= size_t(w[d])) {
    // For this window element, element i of the result reads element i + offset of the image.
    int64_t offset = int64_t(rest % size_t(w[d])) * op.getDilations()[d - 2] - op.getLow()[d - 2];
    int64_t first = std::max<int64_t>(0, offset), last = std::min(x[d], y[d] + offset);
    if (first >= last)
      return nullptr;
    start.insert(start.begin() + 3, first);
    size.insert(size.begin() + 3, last - first);
    part.insert(part.begin() + 2, last - first);
    low.insert(low.begin() + 2, first - offset);
    high.insert(high.begin() + 2, y[d] + offset - last);
  }
  Value taken = b.reshape(b.make<SliceOp>(products, start, size, Shape(start.size(), 1)), part);
  return ArrayRef<int64_t>(part) == y
             ? taken
             : b.make<PadOp>(taken, b.zero(taken), PadMode::constant, low, high);
}

} // namespace

std::optional<Alternative> convToShiftedMatmuls(ConvOp op, AlternativeBuilder &b) {
  constexpr int64_t maxTaps = 12, maxResults = 8;
  ArrayRef<int64_t> x = shapeOf(op.getX()), w = shapeOf(op.getW()), y = shapeOf(op.getY());
  int64_t taps = ShapedType::getNumElements(w.drop_front(2));
  if (op.getGroups() != 1 || taps < 2 || taps > maxTaps || w[0] > maxResults ||
      llvm::any_of(op.getStrides(), [](int64_t stride) { return stride != 1; }))
    return std::nullopt;
  // The weights [O, C, taps..] become the matrix [(taps.., O), C], so that one matmul with the
  // pixels of the image computes the products for all window elements (taps).
  Shape order = llvm::to_vector(llvm::seq<int64_t>(2, int64_t(w.size())));
  Shape image{x[0], taps, w[0]};
  order.append({0, 1});
  image.append(x.begin() + 2, x.end());
  Value weights = b.reshape(b.make<TransposeOp>(op.getW(), order), {taps * w[0], w[1]});
  Value pixels = b.reshape(op.getX(), {x[0], x[1], ShapedType::getNumElements(x.drop_front(2))});
  Value product = b.make<MatmulOp>(weights, pixels, false, false);
  Value products = b.reshape(product, image), sum;
  for (int64_t tap = 0; tap < taps; ++tap)
    if (Value part = shiftTapProducts(op, products, tap, b))
      sum = sum ? b.make<AddOp>(sum, part) : part;
  if (!sum)
    return std::nullopt;
  if (op.getBias()) {
    Shape channels(y.size() - 1, 1);
    channels[0] = y[1];
    sum = b.make<AddOp>(sum, b.reshape(op.getBias(), channels));
  }
  return Alternative{{sum}, {product.getDefiningOp()}, {op.getX(), product}};
}

} // namespace dlc
