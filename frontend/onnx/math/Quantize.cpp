//===- Quantize.cpp - quantization, and matmuls of quantized values -------===//
#include "frontend/onnx/Families.h"

using namespace mlir;

namespace dlc::onnxfront {

static std::string formatType(Type element) {
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return text;
}

/// Reports an error if the type of a zero point differs from its tensor's, or if its size differs
/// from its scale's.
static bool checkZeroPoint(Build &b, Value zeroPoint, Value scale, Type element,
                           const Twine &what) {
  return !zeroPoint ||
         (b.require(b.elem(zeroPoint) == element, what + " must have the type of its tensor, " +
                                                      formatType(element) + ", and has " +
                                                      formatType(b.elem(zeroPoint))) &&
          b.require(b.count(zeroPoint) == b.count(scale) || b.count(zeroPoint) == 1,
                    what + " must have as many elements as its scale, " + Twine(b.count(scale)) +
                        ", and has " + Twine(b.count(zeroPoint))));
}

QuantizationParams readQuantization(Node &n, Build &b, int64_t scale, int64_t zeroPoint,
                                    Type element, int64_t perChannel) {
  QuantizationParams q{n.in(scale), n.in(zeroPoint)};
  std::string what = "the scale (input " + std::to_string(scale) + ")";
  if (!b.require(q.scale && b.isFloat(q.scale), what + " must be given, as floats") ||
      !checkZeroPoint(b, q.zeroPoint, q.scale, element,
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

Value roundToSmallFloat(Build &b, Value x, const llvm::fltSemantics &kind, bool saturates) {
  using F = llvm::APFloat;
  int digits = int(F::semanticsPrecision(kind)) - 1, least = F::semanticsMinExponent(kind),
      levels = F::semanticsMaxExponent(kind) - least;
  double most = F::getLargest(kind).convertToDouble();
  x = saturates ? b.clamp(x, -most, most) : x;
  Value size = b.unary<AbsOp>(x);
  // Quantization step: the spacing of the float type's values near x. It is a power of two, found
  // by binary search over the exponent.
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

Value roundAndAddZeroPoint(Build &b, Value scaled, Value zeroPoint, Type element) {
  if (zeroPoint && b.rank(zeroPoint) > 0) {
    Dims shape = b.dims(zeroPoint);
    shape.insert(shape.begin(), std::max<int64_t>(b.rank(scaled) - int64_t(shape.size()), 0), 1);
    zeroPoint = b.reshape(zeroPoint, shape);
  }
  return buildQuantize(b, scaled, {b.like(scaled, 1), zeroPoint}, element);
}

Value buildQuantize(Build &b, Value x, const QuantizationParams &q, Type element,
                    BlockQuantization blocks) {
  if (!b.require(element && isa<IntegerType>(element) && !element.isInteger(1),
                 "the quantized type must be an integer"))
    return {};
  SmallVector<Value> operands{x, q.scale};
  if (q.zeroPoint)
    operands.push_back(q.zeroPoint);
  auto attributes = blockAttributes(b, x, q.scale, blocks);
  attributes.push_back(b.attr("to", TypeAttr::get(element)));
  return b.op<QuantizeOp>(operands, attributes);
}

DynamicQuantizeResult quantizeDynamically(Build &b, Value x) {
  std::vector<Value> q = b.ops<DynamicQuantizeOp>({x});
  return q.empty() ? DynamicQuantizeResult() : DynamicQuantizeResult{q[0], {q[1], q[2]}};
}

/// Returns whether both operands are integers of at most 8 bits, which dlc's contractions multiply
/// without a cast.
static bool areByteIntegers(Build &b, Value a, Value c) {
  return b.elem(a) && b.elem(c) && b.elem(a).getIntOrFloatBitWidth() <= 8 &&
         b.elem(c).getIntOrFloatBitWidth() <= 8 && !b.isBool(a) && !b.isBool(c);
}

Value buildIntegerMatmul(Build &b, Value a, Value aZero, Value c, Value cZero) {
  // Reshapes a zero point so that it broadcasts to the operand x; to a scalar if it has one
  // element.
  auto aligned = [&](Value zero, Value x, bool isLeft) {
    if (!zero || b.count(zero) == 1)
      return zero ? b.reshape(zero, {}) : zero;
    Dims shape = b.dims(zero);
    if (shape.size() == 1 && isLeft)
      shape.push_back(1);
    while (int64_t(shape.size()) < b.rank(x))
      shape.insert(shape.begin(), 1);
    return b.reshape(zero, shape);
  };
  return buildNumpyMatmul(b, a, c, [&](Value left, Value right) {
    Value leftZero = aligned(aZero, left, true), rightZero = aligned(cZero, right, false);
    return areByteIntegers(b, left, right)
               ? b.opWithOptional<MatmulOp>({left, right, leftZero, rightZero})
               : b.matmul(subtractZeroPoint(b, left, leftZero),
                          subtractZeroPoint(b, right, rightZero));
  });
}

/// Returns a zero point with one element as a scalar, and a zero point [O] (one per output channel)
/// unchanged.
static Value reshapePerOutputChannel(Build &b, Value v) {
  return v && b.count(v) == 1 ? b.reshape(v, {}) : v;
}

Value buildIntegerConv(Node &n, Build &b, Value x, Value xZero, Value w, Value wZero, Value bias) {
  if (!b.require(!xZero || b.count(xZero) == 1, "x's zero point must have one element"))
    return {};
  if (!areByteIntegers(b, x, w))
    return b.error("x and the weights must be integers of 8 bits or fewer");
  return convolve(n, b, x, w, bias, reshapePerOutputChannel(b, xZero),
                  reshapePerOutputChannel(b, wZero));
}

Value buildQuantizedMatmul(Build &b, Value a, const QuantizationParams &aq, Value c,
                           const QuantizationParams &cq) {
  Value sum = buildIntegerMatmul(b, a, aq.zeroPoint, c, cq.zeroPoint);
  return b.mul(b.cast(sum, b.elem(aq.scale)), b.mul(aq.scale, cq.scale));
}

namespace {

/// Returns a scale that broadcasts to x. With block quantization, the scale of each block is
/// repeated for the elements of the block.
Value expandBlockScale(Build &b, Value scale, Value x, BlockQuantization blocks) {
  Value each = broadcastAlongAxis(b, scale, x, blocks);
  if (!each || b.rank(each) == 0 || blocks.size == 0)
    return each;
  int64_t axis = b.axis(blocks.axis, b.rank(x));
  Dims wide = b.dims(each), merged = b.dims(each);
  wide.insert(wide.begin() + axis + 1, blocks.size);
  merged[axis] *= blocks.size;
  Value all = b.reshape(b.broadcast(b.expandDims(each, axis + 1), wide), merged);
  return b.sliceAxis(all, axis, 0, b.shape(x)[axis]);
}

void quantizeLinear(Node &n, Build &b) {
  Value x = n.in(0);
  BlockQuantization blocks{n.integer("axis", 1), n.integer("block_size", 0)};
  const llvm::fltSemantics *small = n.has(2) ? n.smallFloat(2) : n.smallFloat("output_dtype");
  if (small) {
    Value scaled = b.div(b.cast(x, b.f32), b.cast(expandBlockScale(b, n.in(1), x, blocks), b.f32));
    return n.set(0, roundToSmallFloat(b, scaled, *small, n.integer("saturate", 1) != 0));
  }
  Type element = b.b.getIntegerType(8, false);
  if (n.has(2) && n.integer("output_dtype", 0) &&
      !b.require(n.dataType("output_dtype", 0) == b.elem(n.in(2)),
                 "attribute 'output_dtype' contradicts the zero point; required: its type, " +
                     formatType(b.elem(n.in(2))) + "; found: " +
                     formatType(n.dataType("output_dtype", 0)) + "; remove the attribute"))
    return;
  if (n.has(2))
    element = b.elem(n.in(2));
  else if (n.integer("output_dtype", 0))
    element = n.dataType("output_dtype", 0);
  if (!checkZeroPoint(b, n.in(2), n.in(1), element, "the zero point"))
    return;
  Value scale = broadcastAlongAxis(b, n.in(1), x, blocks),
        zero = broadcastAlongAxis(b, n.in(2), x, blocks);
  Type wide = b.elem(x) == b.f64 ? b.f64 : b.f32;
  if (b.ok())
    n.set(0, buildQuantize(b, b.isFloat(x) ? x : b.cast(x, wide), {scale, zero}, element, blocks));
}

void dequantizeLinear(Node &n, Build &b) {
  Value x = n.in(0);
  BlockQuantization blocks{n.integer("axis", 1), n.integer("block_size", 0)};
  Type element = b.elem(n.in(1));
  if (n.integer("output_dtype", 0))
    element = n.dataType("output_dtype", 0);
  if (!b.ok() || !checkZeroPoint(b, n.in(2), n.in(1), b.elem(x), "the zero point"))
    return;
  // 8-bit and 4-bit floats are stored as f32. Their zero point is always 0.
  if (b.isFloat(x))
    return n.set(
        0, b.cast(b.mul(x, b.cast(expandBlockScale(b, n.in(1), x, blocks), b.elem(x))), element));
  QuantizationParams q{broadcastAlongAxis(b, n.in(1), x, blocks),
                       broadcastAlongAxis(b, n.in(2), x, blocks)};
  n.set(0, b.cast(buildDequantize(b, x, q, blocks), element));
}

void dynamicQuantizeLinear(Node &n, Build &b) {
  DynamicQuantizeResult q = quantizeDynamically(b, n.in(0));
  n.set(0, q.values);
  n.set(1, q.by.scale);
  n.set(2, q.by.zeroPoint);
}

/// Reshapes a scale with one element per row of the left operand from [M] to [M, 1].
Value perRow(Build &b, Value v) { return v && b.rank(v) == 1 ? b.expandDims(v, 1) : v; }

void matMulInteger(Node &n, Build &b) {
  n.set(0, buildIntegerMatmul(b, n.in(0), n.in(2), n.in(1), n.in(3)));
}

/// Reshapes a scale or zero point per output channel from [O] to [O, 1, ..] of the given rank. The
/// rank is that of the weights, or one less than that of a result [N, O, ..].
Value reshapePerOutputChannel(Build &b, Value v, int64_t rank) {
  if (!v || b.rank(v) == 0 || b.count(v) == 1)
    return v ? b.reshape(v, {}) : v;
  if (!b.require(rank > 0, "the scale or zero point has " + Twine(b.count(v)) +
                               " elements, one per channel, but the weights are a scalar"))
    return {};
  Dims shape(rank, 1);
  shape[0] = b.count(v);
  return b.reshape(v, shape);
}

void convInteger(Node &n, Build &b) {
  n.set(0, buildIntegerConv(n, b, n.in(0), n.in(2), n.in(1), n.in(3), {}));
}

/// Checks that the zero points of A, B and Y have the types of their tensors.
bool checkZeroPoints(Node &n, Build &b, int64_t a, int64_t c) {
  return checkZeroPoint(b, n.in(a + 2), n.in(a + 1), b.elem(n.in(a)), "A's zero point") &&
         checkZeroPoint(b, n.in(c + 2), n.in(c + 1), b.elem(n.in(c)), "B's zero point") &&
         checkZeroPoint(b, n.in(7), n.in(6), b.elem(n.in(7)), "Y's zero point");
}

void qLinearMatMul(Node &n, Build &b) {
  if (!checkZeroPoints(n, b, 0, 3))
    return;
  Value sum = buildIntegerMatmul(b, n.in(0), n.in(2), n.in(3), n.in(5));
  Value factor = b.div(b.mul(b.cast(perRow(b, n.in(1)), b.f32), b.cast(n.in(4), b.f32)),
                       b.cast(n.in(6), b.f32));
  n.set(0, roundAndAddZeroPoint(b, b.mul(b.cast(sum, b.f32), factor), perRow(b, n.in(7)),
                                b.elem(n.in(7))));
}

void qLinearConv(Node &n, Build &b) {
  if (!checkZeroPoints(n, b, 0, 3))
    return;
  Value w = n.in(3);
  int64_t rank = b.rank(w);
  bool last = n.integer("channels_last", 0) != 0;
  Value x = last ? moveChannelsFirst(b, n.in(0)) : n.in(0);
  Value factor = b.div(
      b.mul(reshapePerOutputChannel(b, n.in(1), 1), reshapePerOutputChannel(b, n.in(4), rank - 1)),
      reshapePerOutputChannel(b, n.in(6), 1));
  if (!b.ok())
    return;
  Value sum = buildIntegerConv(n, b, x, n.in(2), w, n.in(5), n.in(8));
  Value y = roundAndAddZeroPoint(b, b.mul(b.cast(sum, b.f32), b.cast(factor, b.f32)),
                                 reshapePerOutputChannel(b, n.in(7), 1), b.elem(n.in(7)));
  n.set(0, last ? moveChannelsLast(b, y) : y);
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
