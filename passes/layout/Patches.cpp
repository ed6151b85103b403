//===- Patches.cpp - convolutions of patches as matmuls, and channels padded to vectors ----===//
//
// For GPUs. Adjacent, non-overlapping windows that cover the image are the rows of a matrix, as in
// the first layer of a vision transformer. Tensor cores multiply this matrix by the weights, and
// compute the gradient in the same way. Other library kernels for tensor cores read vectors of 16
// bytes along the channels: the three channels of an RGB image are padded to eight with zeros.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/Shape.h"
#include "passes/layout/Alternatives.h"

using namespace mlir;

namespace dlc {

namespace {

using Shape = SmallVector<int64_t>;

bool all(ArrayRef<int64_t> values, int64_t wanted) {
  return llvm::all_of(values, [&](int64_t value) { return value == wanted; });
}

/// Rearranges an image [N, C, h * kh, w * kw] to a matrix [N * h * w, C * kh * kw], with one row
/// for each window.
Value patchesToRows(Value x, ArrayRef<int64_t> window, ArrayRef<int64_t> places,
                    AlternativeBuilder &b) {
  ArrayRef<int64_t> shape = shapeOf(x);
  Shape parts{shape[0], shape[1]}, order{0};
  for (auto [k, place] : llvm::zip(window, places))
    parts.append({place, k});
  for (size_t d = 2; d < parts.size(); d += 2)
    order.push_back(int64_t(d));
  order.push_back(1);
  for (size_t d = 3; d < parts.size(); d += 2)
    order.push_back(int64_t(d));
  int64_t columns = shape[1] * ShapedType::getNumElements(window);
  Value transposed = b.make<TransposeOp>(b.reshape(x, parts), order);
  return b.reshape(transposed, {staticElements(typeOf(x)) / columns, columns});
}

/// Returns the permutation of [N, C, spatial..] to channels last. channelsFirstOrder() returns the
/// inverse permutation.
Shape channelsLastOrder(size_t rank) {
  Shape order{0};
  for (size_t d = 2; d < rank; ++d)
    order.push_back(int64_t(d));
  order.push_back(1);
  return order;
}
Shape channelsFirstOrder(size_t rank) {
  Shape order{0, int64_t(rank) - 1};
  for (size_t d = 1; d + 1 < rank; ++d)
    order.push_back(int64_t(d));
  return order;
}

template <typename Conv>
bool isOfPatches(Conv op, ArrayRef<int64_t> image, ArrayRef<int64_t> window,
                 ArrayRef<int64_t> places) {
  if (op.getGroups() != 1 || !all(op.getDilations(), 1) || !all(op.getLow(), 0) ||
      !all(op.getHigh(), 0) || op.getStrides() != window || ShapedType::getNumElements(window) == 1)
    return false;
  return llvm::all_of(llvm::zip(image, window, places), [](auto each) {
    auto [size, k, place] = each;
    return size == k * place;
  });
}

} // namespace

std::optional<Alternative> convToPatchMatmul(Operation *op, AlternativeBuilder &b) {
  if (auto conv = dyn_cast<ConvOp>(op)) {
    ArrayRef<int64_t> w = shapeOf(conv.getW()), y = shapeOf(conv.getY());
    ArrayRef<int64_t> window = w.drop_front(2), places = y.drop_front(2);
    if (!isOfPatches(conv, shapeOf(conv.getX()).drop_front(2), window, places))
      return std::nullopt;
    Value rows = patchesToRows(conv.getX(), window, places, b);
    Value weights = b.reshape(conv.getW(), {w[0], shapeOf(rows)[1]});
    Value product = b.make<MatmulOp>(rows, weights, false, true), sum = product;
    if (conv.getBias())
      sum = b.make<AddOp>(sum, conv.getBias());
    Shape last{y[0]};
    llvm::append_range(last, places);
    last.push_back(y[1]);
    Value result = b.make<TransposeOp>(b.reshape(sum, last), channelsFirstOrder(y.size()));
    return Alternative{{result}, {product.getDefiningOp()}, {conv.getX()}};
  }
  auto gradient = dyn_cast<ConvWeightGradOp>(op);
  if (!gradient)
    return std::nullopt;
  ArrayRef<int64_t> w = shapeOf(gradient.getDw()), y = shapeOf(gradient.getDy());
  ArrayRef<int64_t> window = w.drop_front(2), places = y.drop_front(2);
  if (!isOfPatches(gradient, shapeOf(gradient.getX()).drop_front(2), window, places))
    return std::nullopt;
  Value rows = patchesToRows(gradient.getX(), window, places, b);
  Value dy = b.reshape(b.make<TransposeOp>(gradient.getDy(), channelsLastOrder(y.size())),
                       {shapeOf(rows)[0], y[1]});
  Value product = b.make<MatmulOp>(dy, rows, true, false);
  return Alternative{{b.reshape(product, w)}, {product.getDefiningOp()}, {gradient.getX()}};
}

std::optional<Alternative> padChannelsToVector(Operation *op, AlternativeBuilder &b) {
  constexpr unsigned kVector = 128; // vector size in bits
  if (!isa<ConvOp, ConvWeightGradOp>(op))
    return std::nullopt;
  auto gradient = dyn_cast<ConvWeightGradOp>(op);
  Value x = op->getOperand(0), w = gradient ? gradient.getDw() : op->getOperand(1);
  int64_t channels = shapeOf(x)[1], whole = kVector / typeOf(x).getElementTypeBitWidth();
  if (channels >= whole || channels == 1 || channels != shapeOf(w)[1])
    return std::nullopt;
  auto padded = [&](Value value, size_t dim) -> Value {
    Shape low(shapeOf(value).size(), 0), high(low);
    high[dim] = whole - channels;
    return b.make<PadOp>(value, b.zero(value), PadMode::constant, low, high);
  };
  Value weights = gradient ? Value() : padded(w, 1);
  // The channels are padded in channels-last order. In the channels-last layout, the transposition
  // back to [N, C, ..] is then a view.
  size_t rank = shapeOf(x).size();
  Value last = deduplicateOp(
      padded(deduplicateOp(b.make<TransposeOp>(x, channelsLastOrder(rank))), rank - 1));
  Value images = deduplicateOp(b.make<TransposeOp>(last, channelsFirstOrder(rank)));
  Operation *wide = b.builder.clone(*op);
  wide->setOperand(0, images);
  Value result = wide->getResult(0);
  if (weights)
    wide->setOperand(1, weights);
  if (gradient) {
    Shape shape(shapeOf(w)), start(shape.size(), 0), step(shape.size(), 1);
    RankedTensorType type = typeOf(result);
    shape[1] = whole;
    result.setType(makeTensorType(shape, type.getElementType(), type.getEncoding()));
    result = b.make<SliceOp>(result, start, Shape(shapeOf(w)), step);
  }
  return Alternative{{result}, {wide}, {images}};
}

} // namespace dlc
