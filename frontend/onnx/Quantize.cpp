//===- Quantize.cpp - quantised values and products of such ---------------===//
#include "frontend/onnx/Node.h"

using namespace mlir;

namespace dlc::onnxfront {

Value matmulNumpy(Build &b, Value a, Value c);
Value convolve(Node &n, Build &b, Value x, Value w, Value bias);

namespace {

std::pair<double, double> rangeOf(Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  if (element.isUnsignedInteger())
    return {0, std::ldexp(1.0, int(width)) - 1};
  return {-std::ldexp(1.0, int(width) - 1), std::ldexp(1.0, int(width) - 1) - 1};
}

/// A scale or zero point beside x: one for all, one per index of an axis, or one per block along
/// the axis.
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

/// Rounds to nearest even, adds the zero point, and saturates.
Value toQuantized(Build &b, Value scaled, Value zeroPoint, Type element) {
  if (!b.require(element && isa<IntegerType>(element) && !element.isInteger(1),
                 "the quantised type must be an integer"))
    return {};
  auto [low, high] = rangeOf(element);
  Value y = b.unary<RoundOp>(scaled);
  if (zeroPoint)
    y = b.add(y, b.cast(zeroPoint, b.elem(y)));
  return b.cast(b.clamp(y, low, high), element);
}

void quantizeLinear(Node &n, Build &b) {
  Value x = n.in(0);
  int64_t axis = n.integer("axis", 1), block = n.integer("block_size", 0);
  Type element = b.b.getIntegerType(8, false);
  if (n.has(2))
    element = b.elem(n.in(2));
  else if (n.integer("output_dtype", 0))
    element = n.dataType("output_dtype", 0);
  Type wide = b.elem(x) == b.f64 ? b.f64 : b.f32;
  Value scale = b.cast(besides(b, n.in(1), x, axis, block), wide);
  n.set(0, toQuantized(b, b.div(b.cast(x, wide), scale), besides(b, n.in(2), x, axis, block),
                       element));
}

void dequantizeLinear(Node &n, Build &b) {
  Value x = n.in(0);
  int64_t axis = n.integer("axis", 1), block = n.integer("block_size", 0);
  Value scale = besides(b, n.in(1), x, axis, block);
  Type element = b.elem(n.in(1));
  if (n.integer("output_dtype", 0))
    element = n.dataType("output_dtype", 0);
  if (!b.ok())
    return;
  x = b.cast(x, b.i32);
  if (n.has(2))
    x = b.sub(x, b.cast(besides(b, n.in(2), n.in(0), axis, block), b.i32));
  n.set(0, b.cast(b.mul(b.cast(x, b.elem(scale)), scale), element));
}

void dynamicQuantizeLinear(Node &n, Build &b) {
  Value x = n.in(0), flat = b.flatten(x), zero = b.like(x, 0);
  Type u8 = b.b.getIntegerType(8, false);
  Value high = b.max(b.reduce(ReduceKind::max, flat, {0}, false), zero);
  Value low = b.min(b.reduce(ReduceKind::min, flat, {0}, false), zero);
  Value range = b.sub(high, low);
  Value scale = b.div(range, 255.0);
  // All zeros: any scale will do.
  Value safe = b.select(b.compare(Predicate::eq, scale, zero), b.like(x, 1), scale);
  Value zeroPoint = b.cast(b.unary<RoundOp>(b.clamp(b.sub(zero, b.div(low, safe)), 0, 255)), u8);
  n.set(0, toQuantized(b, b.div(x, safe), zeroPoint, u8));
  n.set(1, scale);
  n.set(2, zeroPoint);
}

/// As i32, less the zero point.
Value centred(Build &b, Value x, Value zeroPoint) {
  x = b.cast(x, b.i32);
  return zeroPoint ? b.sub(x, b.cast(zeroPoint, b.i32)) : x;
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
  Dims shape(rank, 1);
  shape[0] = b.count(v);
  return b.reshape(v, shape);
}

void convInteger(Node &n, Build &b) {
  Value w = centred(b, n.in(1), perOutput(b, n.in(3), b.rank(n.in(1))));
  n.set(0, convolve(n, b, centred(b, n.in(0), perOutput(b, n.in(2), 1)), w, {}));
}

void qLinearMatMul(Node &n, Build &b) {
  Value sum = matmulNumpy(b, centred(b, n.in(0), perRow(b, n.in(2))), centred(b, n.in(3), n.in(5)));
  Value factor = b.div(b.mul(b.cast(perRow(b, n.in(1)), b.f32), b.cast(n.in(4), b.f32)),
                       b.cast(n.in(6), b.f32));
  n.set(0, toQuantized(b, b.mul(b.cast(sum, b.f32), factor), n.in(7), b.elem(n.in(7))));
}

void qLinearConv(Node &n, Build &b) {
  Value w = n.in(3);
  int64_t rank = b.rank(w);
  Value sum = convolve(n, b, centred(b, n.in(0), perOutput(b, n.in(2), 1)),
                       centred(b, w, perOutput(b, n.in(5), rank)), n.in(8));
  Value factor = b.div(b.mul(perOutput(b, n.in(1), 1), perOutput(b, n.in(4), rank - 1)),
                       perOutput(b, n.in(6), 1));
  n.set(0, toQuantized(b, b.mul(b.cast(sum, b.f32), b.cast(factor, b.f32)),
                       perOutput(b, n.in(7), 1), b.elem(n.in(7))));
}

const Operator table[] = {
    {"QuantizeLinear", 2, quantizeLinear, "axis block_size output_dtype precision saturate"},
    {"DequantizeLinear", 2, dequantizeLinear, "axis block_size output_dtype"},
    {"DynamicQuantizeLinear", 1, dynamicQuantizeLinear},
    {"MatMulInteger", 2, matMulInteger},
    {"ConvInteger", 2, convInteger, "auto_pad dilations group kernel_shape pads strides"},
    {"QLinearMatMul", 8, qLinearMatMul},
    {"QLinearConv", 8, qLinearConv, "auto_pad dilations group kernel_shape pads strides"},
};

} // namespace

ArrayRef<Operator> quantizeOperators() { return table; }

} // namespace dlc::onnxfront
