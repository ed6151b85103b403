//===- Quantize.cpp - quantised values and products of such ---------------===//
#include "frontend/onnx/Families.h"

using namespace mlir;

namespace dlc::onnxfront {

static std::pair<double, double> rangeOf(Type element, unsigned bits) {
  unsigned width = bits ? bits : element.getIntOrFloatBitWidth();
  if (element.isUnsignedInteger())
    return {0, std::ldexp(1.0, int(width)) - 1};
  return {-std::ldexp(1.0, int(width) - 1), std::ldexp(1.0, int(width) - 1) - 1};
}

Value besides(Build &b, Value v, Value x, int64_t axis, int64_t block) {
  if (!v || b.rank(v) == 0)
    return v;
  if (b.rank(v) == 1 && block == 0) {
    if (b.count(v) == 1)
      return b.reshape(v, {});
    axis = b.axis(axis, b.rank(x));
    Dims shape(b.rank(x), 1);
    if (!b.ok() ||
        !b.require(b.count(v) == b.shape(x)[axis], "a scale per index of axis " + Twine(axis) +
                                                       " must have " + Twine(b.shape(x)[axis]) +
                                                       " elements, and has " + Twine(b.count(v))))
      return {};
    shape[axis] = b.count(v);
    return b.reshape(v, shape);
  }
  axis = b.axis(axis, b.rank(x));
  if (!b.ok() || !b.require(Build::isSane(block, 1) && b.rank(v) == b.rank(x),
                            "scales per block need the attribute 'block_size', and x's rank"))
    return {};
  Dims wide = b.dims(v), merged = b.dims(v);
  wide.insert(wide.begin() + axis + 1, block);
  merged[axis] *= block;
  Value all = b.reshape(b.broadcast(b.expandDims(v, axis + 1), wide), merged);
  if (!b.ok() || !b.require(merged[axis] >= b.shape(x)[axis], "the blocks do not cover x"))
    return {};
  return b.sliceAxis(all, axis, 0, b.shape(x)[axis]);
}

static std::string nameOf(Type element) {
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return text;
}

/// Errors unless a zero point goes with the tensor that it is for, and with its scale.
static bool fitsZeroPoint(Build &b, Value zeroPoint, Value scale, Type element, const Twine &what) {
  return !zeroPoint ||
         (b.require(b.elem(zeroPoint) == element,
                    what + " must have the type of the tensor that it is for, " + nameOf(element) +
                        ", and has " + nameOf(b.elem(zeroPoint))) &&
          b.require(b.count(zeroPoint) == b.count(scale) || b.count(zeroPoint) == 1,
                    what + " must have as many elements as its scale, " + Twine(b.count(scale)) +
                        ", and has " + Twine(b.count(zeroPoint))));
}

Quantization quantizationOf(Node &n, Build &b, int64_t scale, int64_t zeroPoint, Type element,
                            int64_t perChannel) {
  Quantization q{n.in(scale), n.in(zeroPoint)};
  std::string what = "the scale (input " + std::to_string(scale) + ")";
  if (!b.require(q.scale && b.isFloat(q.scale), what + " must be given, as floats") ||
      !fitsZeroPoint(b, q.zeroPoint, q.scale, element,
                     "the zero point (input " + Twine(zeroPoint) + ")"))
    return {};
  auto settle = [&](Value v) {
    int64_t count = b.count(v);
    if (!v || count == 1)
      return v ? b.reshape(v, {}) : v;
    b.require(count == perChannel, what + " must have one element" +
                                       (perChannel == 1 ? "" : " or " + Twine(perChannel)) +
                                       ", and has " + Twine(count));
    return b.reshape(v, {count});
  };
  return {settle(q.scale), settle(q.zeroPoint)};
}

Value roundedTo(Build &b, Value x, const llvm::fltSemantics &kind, bool saturates) {
  using F = llvm::APFloat;
  int digits = int(F::semanticsPrecision(kind)) - 1, least = F::semanticsMinExponent(kind),
      levels = F::semanticsMaxExponent(kind) - least;
  double most = F::getLargest(kind).convertToDouble();
  x = saturates ? b.clamp(x, -most, most) : x;
  Value size = b.unary<AbsOp>(x);
  // The distance of neighbours: a power of two, found by halves.
  Value step = b.like(x, std::ldexp(1.0, least - digits));
  for (int half = int(llvm::bit_floor(unsigned(levels))); half; half /= 2) {
    Value wider = b.mul(step, std::ldexp(1.0, half));
    Value fits = b.compare(Predicate::ge, size, b.mul(wider, std::ldexp(1.0, digits)));
    step = b.select(fits, wider, step);
  }
  Value y = b.mul(b.unary<RoundOp>(b.div(x, step)), step);
  if (saturates)
    return y;
  auto sign = [&](double v) {
    return b.select(b.compare(Predicate::lt, x, b.like(x, 0)), b.like(x, -v), b.like(x, v));
  };
  double beyond = F::semanticsHasInf(kind)   ? std::numeric_limits<double>::infinity()
                  : F::semanticsHasNaN(kind) ? std::numeric_limits<double>::quiet_NaN()
                                             : most;
  return b.select(b.compare(Predicate::gt, b.unary<AbsOp>(y), b.like(x, most)), sign(beyond), y);
}

Value toQuantized(Build &b, Value scaled, Value zeroPoint, Type element, unsigned bits) {
  if (!b.require(element && isa<IntegerType>(element) && !element.isInteger(1),
                 "the quantised type must be an integer"))
    return {};
  auto [low, high] = rangeOf(element, bits);
  Value y = b.unary<RoundOp>(scaled);
  if (zeroPoint)
    y = b.add(y, b.cast(zeroPoint, b.elem(y)));
  return b.cast(b.clamp(y, low, high), element);
}

Value centred(Build &b, Value x, Value zeroPoint) {
  x = b.cast(x, b.i32);
  return zeroPoint ? b.sub(x, b.cast(zeroPoint, b.i32)) : x;
}

Value dequantized(Build &b, Value x, const Quantization &q) {
  return b.mul(b.cast(centred(b, x, q.zeroPoint), b.elem(q.scale)), q.scale);
}

std::optional<ref::Tensor> storedElements(Value v) {
  std::optional<ref::Tensor> found;
  if (auto op = v ? v.getDefiningOp<ConstantOp>() : ConstantOp())
    if (auto tensor = ref::Tensor::fromAttr(op.getValue()); succeeded(tensor))
      found = *tensor;
  return found;
}

Value dequantizedBlocks(Build &b, Value numbers, Value zero, Value scale, int64_t k) {
  Value all = dequantized(b, numbers, {b.expandDims(scale, 2), zero});
  if (!b.ok())
    return {};
  int64_t n = b.dim(numbers, 0), wide = b.dim(numbers, 1) * b.dim(numbers, 2);
  return b.sliceAxis(b.reshape(all, {n, wide}), 1, 0, k);
}

Value quantized(Build &b, Value x, const Quantization &q, Type element) {
  return toQuantized(b, b.div(x, q.scale), q.zeroPoint, element);
}

DynamicallyQuantized quantizeDynamically(Build &b, Value x) {
  Value zero = b.like(x, 0);
  auto axes = llvm::to_vector(llvm::seq(b.rank(x)));
  Type u8 = b.b.getIntegerType(8, false);
  Value high = b.max(b.reduce(ReduceKind::max, x, axes, false), zero);
  Value low = b.min(b.reduce(ReduceKind::min, x, axes, false), zero);
  Value scale = b.div(b.sub(high, low), 255.0);
  // All zeros: any scale will do.
  Value safe = b.select(b.compare(Predicate::eq, scale, zero), b.like(x, 1), scale);
  Value zeroPoint = b.cast(b.unary<RoundOp>(b.clamp(b.sub(zero, b.div(low, safe)), 0, 255)), u8);
  return {toQuantized(b, b.div(x, safe), zeroPoint, u8), {scale, zeroPoint}};
}

Value quantizedProduct(Build &b, Value a, const Quantization &aq, Value c, const Quantization &cq) {
  Value sum = matmulNumpy(b, centred(b, a, aq.zeroPoint), centred(b, c, cq.zeroPoint));
  return b.mul(b.cast(sum, b.elem(aq.scale)), b.mul(aq.scale, cq.scale));
}

namespace {

void quantizeLinear(Node &n, Build &b) {
  Value x = n.in(0);
  int64_t axis = n.integer("axis", 1), block = n.integer("block_size", 0);
  const llvm::fltSemantics *small = n.has(2) ? n.smallFloat(2) : n.smallFloat("output_dtype");
  if (small) {
    Value scaled = b.div(b.cast(x, b.f32), b.cast(besides(b, n.in(1), x, axis, block), b.f32));
    return n.set(0, roundedTo(b, scaled, *small, n.integer("saturate", 1) != 0));
  }
  Type element = b.b.getIntegerType(8, false);
  if (n.has(2) && n.integer("output_dtype", 0) && !n.isFourBits(2) &&
      !b.require(n.dataType("output_dtype", 0) == b.elem(n.in(2)),
                 "attribute 'output_dtype' contradicts the zero point; required: its type, " +
                     nameOf(b.elem(n.in(2))) + "; found: " + nameOf(n.dataType("output_dtype", 0)) +
                     "; remove the attribute"))
    return;
  if (n.has(2))
    element = b.elem(n.in(2));
  else if (n.integer("output_dtype", 0))
    element = n.dataType("output_dtype", 0);
  if (!fitsZeroPoint(b, n.in(2), n.in(1), element, "the zero point"))
    return;
  Type wide = b.elem(x) == b.f64 ? b.f64 : b.f32;
  Value scale = b.cast(besides(b, n.in(1), x, axis, block), wide);
  n.set(0, toQuantized(b, b.div(b.cast(x, wide), scale), besides(b, n.in(2), x, axis, block),
                       element, n.isFourBits(2) ? 4 : 0));
}

/// A constant matrix with scales for each block of one axis, in the form of dequantizedBlocks; null
/// where it is none.
Value constantBlocks(Node &n, Build &b, int64_t axis, int64_t block) {
  constexpr int64_t kUnit = 16;
  auto x = storedElements(n.in(0)), scale = storedElements(n.in(1)), zero = storedElements(n.in(2));
  if (!x || !scale || (n.has(2) && !zero) || !Build::isSane(block, kUnit) || block % kUnit ||
      x->getRank() != 2 || scale->getRank() != 2 || !x->getElementType().isInteger(8) ||
      (b.elem(n.in(1)) != b.f32 && !b.isHalf(n.in(1))) || axis < -2 || axis > 1)
    return {};
  bool isAcross = axis % 2 == 0; // blocks go along columns
  auto sizeOf = [=](const ref::Tensor &t, bool along) { return t.getShape()[isAcross != along]; };
  int64_t rows = sizeOf(*x, false), k = sizeOf(*x, true), blocks = (k + block - 1) / block;
  if (sizeOf(*scale, false) != rows || sizeOf(*scale, true) != blocks ||
      (zero && zero->getShape() != scale->getShape()))
    return {};
  // What has no sign is taken from its middle.
  bool isUnsigned = x->getElementType().isUnsignedInteger();
  int64_t middle = !isUnsigned ? 0 : n.isFourBits(0) ? 8 : 128;
  auto numbers =
      ref::Tensor::empty(RankedTensorType::get({rows, blocks, block}, b.b.getIntegerType(8)));
  const auto *from = reinterpret_cast<const uint8_t *>(x->data());
  auto *to = reinterpret_cast<uint8_t *>(numbers.mutableData());
  int64_t rowStep = isAcross ? 1 : k, step = isAcross ? rows : 1;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < k; ++i)
      to[row * blocks * block + i] = uint8_t(from[row * rowStep + i * step] - middle);
  auto turned = [&](Value v) { return isAcross ? b.transpose(v, {1, 0}) : v; };
  Value centre = n.in(2);
  if (centre)
    centre = b.expandDims(b.sub(b.cast(turned(centre), b.i32), b.scalarInt(b.i32, middle)), 2);
  else if (middle)
    centre = b.splat(b.i32, {rows, blocks, 1}, -double(middle));
  // The form is of f32, whatever the file has.
  Value each = dequantizedBlocks(b, b.constant(numbers), centre, b.cast(turned(n.in(1)), b.f32), k);
  return b.cast(turned(each), b.elem(n.in(1)));
}

void dequantizeLinear(Node &n, Build &b) {
  Value x = n.in(0);
  int64_t axis = n.integer("axis", 1), block = n.integer("block_size", 0);
  Value scale = besides(b, n.in(1), x, axis, block);
  Type element = b.elem(n.in(1));
  if (n.integer("output_dtype", 0))
    element = n.dataType("output_dtype", 0);
  if (!b.ok() || !fitsZeroPoint(b, n.in(2), n.in(1), b.elem(x), "the zero point"))
    return;
  // Small floats, which have no zero points but 0.
  if (b.isFloat(x))
    return n.set(0, b.cast(b.mul(x, b.cast(scale, b.elem(x))), element));
  if (Value y = constantBlocks(n, b, axis, block))
    return n.set(0, b.cast(y, element));
  n.set(0, b.cast(dequantized(b, x, {scale, besides(b, n.in(2), x, axis, block)}), element));
}

void dynamicQuantizeLinear(Node &n, Build &b) {
  DynamicallyQuantized q = quantizeDynamically(b, n.in(0));
  n.set(0, q.values);
  n.set(1, q.by.scale);
  n.set(2, q.by.zeroPoint);
}

/// One per row of the left operand: a column.
Value perRow(Build &b, Value v) { return v && b.rank(v) == 1 ? b.expandDims(v, 1) : v; }

void matMulInteger(Node &n, Build &b) {
  n.set(0, matmulNumpy(b, centred(b, n.in(0), perRow(b, n.in(2))), centred(b, n.in(1), n.in(3))));
}

/// [O] as [O, 1, ..] beside weights of some rank, or beside [N, O, ..] with one dimension less.
Value perOutput(Build &b, Value v, int64_t rank) {
  if (!v || b.rank(v) == 0 || b.count(v) == 1)
    return v ? b.reshape(v, {}) : v;
  if (!b.require(rank > 0, "a scale or zero point for each channel, of which there are " +
                               Twine(b.count(v)) +
                               ", needs weights with channels, and they are "
                               "a scalar"))
    return {};
  Dims shape(rank, 1);
  shape[0] = b.count(v);
  return b.reshape(v, shape);
}

void convInteger(Node &n, Build &b) {
  Value w = centred(b, n.in(1), perOutput(b, n.in(3), b.rank(n.in(1))));
  n.set(0, convolve(n, b, centred(b, n.in(0), perOutput(b, n.in(2), 1)), w, {}));
}

/// The zero points of operands and result must have their types.
bool fitZeroPoints(Node &n, Build &b, int64_t a, int64_t c) {
  return fitsZeroPoint(b, n.in(a + 2), n.in(a + 1), b.elem(n.in(a)), "A's zero point") &&
         fitsZeroPoint(b, n.in(c + 2), n.in(c + 1), b.elem(n.in(c)), "B's zero point") &&
         fitsZeroPoint(b, n.in(7), n.in(6), b.elem(n.in(7)), "Y's zero point");
}

void qLinearMatMul(Node &n, Build &b) {
  if (!fitZeroPoints(n, b, 0, 3))
    return;
  Value sum = matmulNumpy(b, centred(b, n.in(0), perRow(b, n.in(2))), centred(b, n.in(3), n.in(5)));
  Value factor = b.div(b.mul(b.cast(perRow(b, n.in(1)), b.f32), b.cast(n.in(4), b.f32)),
                       b.cast(n.in(6), b.f32));
  n.set(0, toQuantized(b, b.mul(b.cast(sum, b.f32), factor), n.in(7), b.elem(n.in(7))));
}

void qLinearConv(Node &n, Build &b) {
  if (!fitZeroPoints(n, b, 0, 3))
    return;
  Value w = n.in(3);
  int64_t rank = b.rank(w);
  bool last = n.integer("channels_last", 0) != 0;
  Value x = last ? channelsFirst(b, n.in(0)) : n.in(0);
  Value sum = convolve(n, b, centred(b, x, perOutput(b, n.in(2), 1)),
                       centred(b, w, perOutput(b, n.in(5), rank)), n.in(8));
  Value factor = b.div(b.mul(perOutput(b, n.in(1), 1), perOutput(b, n.in(4), rank - 1)),
                       perOutput(b, n.in(6), 1));
  Value y = toQuantized(b, b.mul(b.cast(sum, b.f32), b.cast(factor, b.f32)),
                        perOutput(b, n.in(7), 1), b.elem(n.in(7)));
  n.set(0, last ? channelsLast(b, y) : y);
}

const Operator table[] = {
    {"QuantizeLinear", quantizeLinear},
    {"DequantizeLinear", dequantizeLinear},
    {"DynamicQuantizeLinear", dynamicQuantizeLinear},
    {"MatMulInteger", matMulInteger},
    {"ConvInteger", convInteger},
    {"QLinearMatMul", qLinearMatMul},
    {"QLinearConv", qLinearConv},
    {"QuantizeLinear", 2, quantizeLinear, "axis", microsoft},
    {"DequantizeLinear", 2, dequantizeLinear, "axis", microsoft},
    {"QLinearConv", 8, qLinearConv,
     "channels_last auto_pad dilations group kernel_shape pads strides", microsoft},
};

} // namespace

ArrayRef<Operator> quantizeOperators() { return table; }

} // namespace dlc::onnxfront
