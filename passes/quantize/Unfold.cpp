//===- Unfold.cpp - convolutions of integers as matmuls (im2col) -----------===//
//
//   conv(cast(x) - z, cast(w))  ->  reshape(transpose(matmul(cast(x') - z, cast(w'))))
//
// where x' (im2col) concatenates, for each tap of the window, a slice of x padded with z. A window
// of one element with stride 1 reads x itself. The matmul has channels last, the layout that
// epilogues of matmuls support; the transpose restores the layout of the convolution.
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/Unfold.h"

#include "ir/tensor/Tensor.h"
#include "passes/Widened.h"
#include "passes/simplify/Constants.h"

using namespace mlir;

namespace dlc::quantize {

namespace {

using Shape = SmallVector<int64_t>;

int64_t tapsOf(ConvOp conv) {
  return ShapedType::getNumElements(shapeOf(conv.getW()).drop_front(2));
}

int64_t positionsOf(ConvOp conv) {
  return ShapedType::getNumElements(shapeOf(conv.getY()).drop_front(2));
}

/// Checks that constant weights fit i8: by the type they are cast from, or by their values.
bool areBytes(Value weights) {
  auto widened = matchWidened(weights);
  if (widened && !widened->zeroPoint && typeOf(widened->x).getElementType().isSignlessInteger(8))
    return true;
  auto numbers = evaluated(weights);
  return numbers && areWithin(*numbers, -128, 127);
}

/// Evaluates constant weights, in the 8-bit type that they are cast from if there is one.
std::optional<ref::Tensor> numbersOf(Value weights) {
  auto widened = matchWidened(weights);
  return evaluated(widened && !widened->zeroPoint ? widened->x : weights);
}

/// Permutes weights [O, C, taps..] to [O, taps C].
ref::Tensor turned(const ref::Tensor &weights, int64_t taps) {
  int64_t outputs = weights.getShape()[0], channels = weights.getShape()[1];
  Type i8 = IntegerType::get(weights.getType().getContext(), 8);
  auto made = ref::Tensor::empty(RankedTensorType::get({outputs, taps * channels}, i8));
  const bool isNarrow = weights.getElementType().isInteger(8);
  char *const bytes = made.mutableData();
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t t = 0; t < taps; ++t) {
        int64_t from = (o * channels + c) * taps + t, to = (o * taps + t) * channels + c;
        bytes[to] = isNarrow ? weights.data()[from] : char(weights.getInt(from));
      }
  return made;
}

/// Checks that a zero point is available in the 8-bit type of x: as a constant in its range, or as
/// the operand of a cast.
bool isKnownBeside(Value x, Value zeroPoint) {
  Type element = typeOf(x).getElementType();
  double least = element.isUnsignedInteger() ? 0 : -128;
  if (auto constant = splatValue(zeroPoint))
    return *constant >= least && *constant <= least + 255;
  auto cast = zeroPoint.getDefiningOp<CastOp>();
  return cast && typeOf(cast.getX()).getElementType() == element;
}

/// Returns that zero point as a 0-d value in the type of x.
Value zeroBeside(const Widened &x, TensorBuilder &b) {
  if (!x.zeroPoint)
    return b.scalar(0, x.x);
  if (auto constant = splatValue(x.zeroPoint))
    return b.scalar(*constant, x.x);
  return b.reshape(x.zeroPoint.getDefiningOp<CastOp>().getX(), {});
}

/// Unfolds images [N, C, image..] to [N, taps C, positions] (im2col).
Value windows(ConvOp conv, Value x, Value zero, TensorBuilder &b) {
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
  for (int64_t tap = 0, taps = tapsOf(conv); tap < taps; ++tap) {
    Shape start(size.size(), 0);
    for (int64_t rest = tap, d = int64_t(window.size()); d-- > 0; rest /= window[d])
      start[d + 2] = rest % window[d] * conv.getDilations()[d];
    bool isAll = taps == 1 && size == Shape(shapeOf(x));
    parts.push_back(isAll ? x : b.make<SliceOp>(x, start, size, stride));
  }
  Value all = parts.size() == 1 ? parts[0] : b.make<ConcatOp>(parts, 1);
  return b.reshape(all, {size[0], int64_t(parts.size()) * size[1], positionsOf(conv)});
}

} // namespace

bool canUnfold(ConvOp conv) {
  // Unfolded images that exceed the caches cost more memory traffic than the matmul saves.
  constexpr int64_t kMostBytes = int64_t(32) << 20;
  // With fewer weights, unfolding and packing take longer than the multiplications.
  constexpr int64_t kFewestWeights = 8192;
  auto x = matchWidened(conv.getX());
  if (!x || conv.getGroups() != 1 || typeOf(conv.getW()).getNumElements() < kFewestWeights ||
      !typeOf(conv.getY()).hasStaticShape() || typeOf(conv.getY()).getNumElements() == 0 ||
      !isOfConstants(conv.getW()))
    return false;
  ArrayRef<int64_t> shape = shapeOf(conv.getX());
  if (shape[0] * shape[1] * tapsOf(conv) * positionsOf(conv) > kMostBytes)
    return false;
  if (x->zeroPoint && !isKnownBeside(x->x, x->zeroPoint))
    return false;
  return areBytes(conv.getW());
}

/// Transposes a result [N, positions, O] to [N, O, image..].
static Value inPlanes(Value rows, ArrayRef<int64_t> shape, TensorBuilder &b) {
  return b.reshape(b.make<TransposeOp>(rows, ArrayRef<int64_t>{0, 2, 1}), shape);
}

Value unfolded(ConvOp conv, TensorBuilder &b) {
  auto x = matchWidened(conv.getX());
  Type i32 = typeOf(conv.getY()).getElementType();
  Value images = b.cast(windows(conv, x->x, zeroBeside(*x, b), b), i32);
  if (x->zeroPoint)
    images = b.make<SubOp>(images, b.reshape(x->zeroPoint, {}));
  Value weights =
      b.cast(b.make<ConstantOp>(turned(*numbersOf(conv.getW()), tapsOf(conv)).toAttr()), i32);
  Value y = b.make<MatmulOp>(images, weights, /*transpose_a=*/true, /*transpose_b=*/true);
  if (conv.getBias())
    y = b.make<AddOp>(y, conv.getBias());
  return inPlanes(y, shapeOf(conv.getY()), b);
}

/// Rearranges an operand that broadcasts to [N, O, image..] to broadcast to [N, positions, O].
/// Returns null unless it has one element, one for each channel, or the full shape.
static Value inRows(Value operand, ArrayRef<int64_t> planes, TensorBuilder &b) {
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

/// Checks that an operation computes each element from the elements at the same index only.
static bool isElementwise(Operation *op) {
  auto quantize = dyn_cast<QuantizeOp>(op);
  return op->hasTrait<Elementwise>() ||
         (quantize && !quantize.getBlockSize() &&
          llvm::all_of(op->getOperands().drop_front(),
                       [](Value each) { return typeOf(each).getNumElements() == 1; }));
}

void keepInRows(Value planes) {
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
                                           : inRows(operand, shapeOf(planes), b));
      if (!operands.back())
        return;
    }
    Operation *rows = builder.clone(*user);
    rows->setOperands(operands);
    rows->getResult(0).setType(typeOf(user->getResult(0)).clone(shapeOf(transpose.getX())));
    planes = inPlanes(rows->getResult(0), shapeOf(planes), b);
    user->getResult(0).replaceAllUsesWith(planes);
    user->erase();
    reshape.erase();
    transpose.erase();
  }
}

} // namespace dlc::quantize
