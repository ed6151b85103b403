//===- Unfold.cpp - convolutions of integers as matmuls (im2col) -----------===//
//
//   conv(x, w) x_zero_point z  ->  reshape(transpose(matmul(x', w') a_zero_point z))
//
// where x' (im2col) concatenates, for each tap of the window, a slice of x padded with z. A window
// of one element with stride 1 reads x itself. The matmul has channels last, the layout that
// epilogues of matmuls support; the transpose restores the layout of the convolution.
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/Unfold.h"

#include "ir/dlc/Attributes.h"
#include "ir/dlc/Contraction.h"
#include "ir/dlc/Infer.h"
#include "ir/tensor/Tensor.h"
#include "passes/simplify/Constants.h"

using namespace mlir;

namespace dlc::quantize {

namespace {

using Shape = SmallVector<int64_t>;

int64_t countWindowElements(ConvOp conv) {
  return ShapedType::getNumElements(shapeOf(conv.getW()).drop_front(2));
}

int64_t countOutputPositions(ConvOp conv) {
  return ShapedType::getNumElements(shapeOf(conv.getY()).drop_front(2));
}

/// Permutes constant weights [O, C, taps..] to [O, taps C], in the order of the unfolded images.
ref::Tensor permuteWeights(const ref::Tensor &weights, int64_t taps) {
  int64_t outputs = weights.getShape()[0], channels = weights.getShape()[1];
  Type i8 = IntegerType::get(weights.getType().getContext(), 8);
  auto made = ref::Tensor::empty(RankedTensorType::get({outputs, taps * channels}, i8));
  char *const bytes = made.mutableData();
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t t = 0; t < taps; ++t)
        bytes[(o * taps + t) * channels + c] = weights.data()[(o * channels + c) * taps + t];
  return made;
}

/// Checks that a zero point is representable in the 8-bit type of x, so that it can be used as
/// padding.
bool isRepresentableAsPadding(Value x, Value zeroPoint) {
  Type element = typeOf(x).getElementType();
  if (!zeroPoint || typeOf(zeroPoint).getElementType() == element)
    return true;
  auto constant = splatValue(zeroPoint);
  auto [low, high] = integerRange(cast<IntegerType>(element));
  return constant && *constant >= double(low) && *constant <= double(high);
}

/// Returns the zero point as a value of rank 0 in the type of x, for padding.
Value getPaddingValue(Value x, Value zeroPoint, TensorBuilder &b) {
  if (auto constant = zeroPoint ? splatValue(zeroPoint) : std::optional(0.0))
    return b.scalar(*constant, x);
  return b.reshape(zeroPoint, {});
}

/// Unfolds images [N, C, image..] to [N, taps C, positions] (im2col).
Value buildIm2col(ConvOp conv, Value x, Value zero, TensorBuilder &b) {
  ArrayRef<int64_t> window = shapeOf(conv.getW()).drop_front(2),
                    result = shapeOf(conv.getY()).drop_front(2);
  Shape low{0, 0}, high{0, 0}, stride{1, 1}, size(shapeOf(x).take_front(2));
  low.append(conv.getLow().begin(), conv.getLow().end());
  high.append(conv.getHigh().begin(), conv.getHigh().end());
  stride.append(conv.getStrides().begin(), conv.getStrides().end());
  size.append(result.begin(), result.end());
  auto isZero = [](int64_t n) { return n == 0; };
  if (!llvm::all_of(low, isZero) || !llvm::all_of(high, isZero))
    x = b.make<PadOp>(x, zero, PadMode::constant, low, high);
  SmallVector<Value> parts;
  for (int64_t tap = 0, taps = countWindowElements(conv); tap < taps; ++tap) {
    Shape start(size.size(), 0);
    for (int64_t rest = tap, d = int64_t(window.size()); d-- > 0; rest /= window[d])
      start[d + 2] = rest % window[d] * conv.getDilations()[d];
    bool isAll = taps == 1 && size == Shape(shapeOf(x));
    parts.push_back(isAll ? x : b.make<SliceOp>(x, start, size, stride));
  }
  Value all = parts.size() == 1 ? parts[0] : b.make<ConcatOp>(parts, 1);
  return b.reshape(all, {size[0], int64_t(parts.size()) * size[1], countOutputPositions(conv)});
}

} // namespace

bool canUnfold(ConvOp conv, Value zeroPoint) {
  // Maximum size in bytes of the unfolded images. Unfolded images that exceed the caches cost more
  // memory traffic than the matmul saves.
  constexpr int64_t kMaxBytes = int64_t(32) << 20;
  // Minimum number of weights. With fewer weights, unfolding and packing take longer than the
  // multiplications.
  constexpr int64_t kMinWeights = 8192;
  if (conv.getGroups() != 1 || typeOf(conv.getW()).getNumElements() < kMinWeights ||
      typeOf(conv.getY()).getNumElements() == 0)
    return false;
  ArrayRef<int64_t> shape = shapeOf(conv.getX());
  return shape[0] * shape[1] * countWindowElements(conv) * countOutputPositions(conv) <=
             kMaxBytes &&
         isRepresentableAsPadding(conv.getX(), zeroPoint);
}

/// Transposes a matmul result [N, positions, O] to [N, O, image..].
static Value rowsToPlanes(Value rows, ArrayRef<int64_t> shape, TensorBuilder &b) {
  return b.reshape(b.make<TransposeOp>(rows, ArrayRef<int64_t>{0, 2, 1}), shape);
}

Value convToIm2colMatmul(ConvOp conv, Value zeroPoint, TensorBuilder &b) {
  Value images = buildIm2col(conv, conv.getX(), getPaddingValue(conv.getX(), zeroPoint, b), b);
  Value weights = b.make<ConstantOp>(
      permuteWeights(*evaluateConstant(conv.getW()), countWindowElements(conv)).toAttr());
  Value y = b.make<MatmulOp>(images, weights, /*transpose_a=*/true, /*transpose_b=*/true);
  y.getDefiningOp()->setAttr(kGeneratedSumsAttr, UnitAttr::get(y.getContext()));
  setZeroPoints(y.getDefiningOp(), conv.getXZeroPoint(), Value());
  if (conv.getBias())
    y = b.make<AddOp>(y, conv.getBias());
  return rowsToPlanes(y, shapeOf(conv.getY()), b);
}

/// Rearranges an operand that broadcasts to [N, O, image..] so that it broadcasts to [N, positions,
/// O]. Returns null unless it has one element, one for each channel, or the full shape.
static Value planesToRows(Value operand, ArrayRef<int64_t> planes, TensorBuilder &b) {
  ArrayRef<int64_t> shape = shapeOf(operand);
  if (typeOf(operand).getNumElements() == 1)
    return b.reshape(operand, {});
  const int64_t outputs = planes[1], positions = ShapedType::getNumElements(planes.drop_front(2));
  if (shape == planes)
    return b.make<TransposeOp>(b.reshape(operand, {planes[0], outputs, positions}),
                               ArrayRef<int64_t>{0, 2, 1});
  const size_t missing = planes.size() - shape.size();
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1 && d + missing != 1)
      return nullptr;
  return b.reshape(operand, {outputs});
}

/// Checks that an operation computes each result element only from operand elements at the same
/// index.
static bool isElementwise(Operation *op) {
  auto quantize = dyn_cast<QuantizeOp>(op);
  return op->hasTrait<Elementwise>() ||
         (quantize && !quantize.getBlockSize() &&
          llvm::all_of(op->getOperands().drop_front(),
                       [](Value each) { return typeOf(each).getNumElements() == 1; }));
}

void sinkTransposeToPlanes(Value planes) {
  while (planes.hasOneUse() && !isInt8(planes.getType())) {
    Operation *user = *planes.user_begin();
    if (!isElementwise(user) || user->getNumResults() != 1 ||
        shapeOf(user->getResult(0)) != shapeOf(planes))
      return;
    auto reshape = planes.getDefiningOp<ReshapeOp>();
    auto transpose = reshape.getX().getDefiningOp<TransposeOp>();
    OpBuilder builder(user);
    TensorBuilder b(builder, user->getLoc());
    SmallVector<Value> operands;
    for (Value operand : user->getOperands()) {
      operands.push_back(operand == planes ? transpose.getX()
                                           : planesToRows(operand, shapeOf(planes), b));
      if (!operands.back())
        return;
    }
    Operation *rows = builder.clone(*user);
    rows->setOperands(operands);
    rows->getResult(0).setType(typeOf(user->getResult(0)).clone(shapeOf(transpose.getX())));
    planes = rowsToPlanes(rows->getResult(0), shapeOf(planes), b);
    user->getResult(0).replaceAllUsesWith(planes);
    user->erase();
    reshape.erase();
    transpose.erase();
  }
}

} // namespace dlc::quantize
