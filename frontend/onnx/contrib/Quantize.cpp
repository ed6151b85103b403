//===- Quantize.cpp - operators on quantized tensors ----------------------===//
// Each operator in this file is defined as: dequantize the inputs, apply the floating-point
// operator, and quantize the result with its own scale. Sums of integers are exact.
#include "frontend/onnx/Families.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

/// A quantized input of a node: the tensor, its scale and its zero point.
struct QuantizedInput {
  Value values;
  QuantizationParams by;
  Type element;
};

QuantizedInput readQuantizedInput(Node &n, Build &b, int64_t values, int64_t scale,
                                  int64_t zeroPoint) {
  Value x = n.in(values);
  if (!b.require(x && isa_and_nonnull<IntegerType>(b.elem(x)) && !b.isBool(x),
                 "input " + Twine(values) + " must be a tensor of integers"))
    return {};
  return {x, readQuantization(n, b, scale, zeroPoint, b.elem(x)), b.elem(x)};
}
QuantizedInput readQuantizedInput(Node &n, Build &b, int64_t first) {
  return readQuantizedInput(n, b, first, first + 1, first + 2);
}

Value real(Build &b, const QuantizedInput &x) { return buildDequantize(b, x.values, x.by); }

/// Quantizes the result y to `element` and sets the output. Inputs number `scale` and `scale` + 1
/// of the node are the result's scale and zero point.
void setQuantizedOutput(Node &n, Build &b, Value y, int64_t scale, Type element) {
  if (b.ok())
    n.set(0, buildQuantize(b, y, readQuantization(n, b, scale, scale + 1, element), element));
}

template <typename Op> void binary(Node &n, Build &b) {
  QuantizedInput x = readQuantizedInput(n, b, 0), y = readQuantizedInput(n, b, 3);
  if (b.require(x.element == y.element, "A and B must have one element type"))
    setQuantizedOutput(n, b, b.op<Op>({real(b, x), real(b, y)}), 6, x.element);
}

void sigmoid(Node &n, Build &b) {
  QuantizedInput x = readQuantizedInput(n, b, 0);
  if (b.ok())
    setQuantizedOutput(n, b, b.sigmoid(real(b, x)), 3, x.element);
}

void leakyRelu(Node &n, Build &b) {
  QuantizedInput x = readQuantizedInput(n, b, 0);
  if (!b.ok())
    return;
  Value v = real(b, x), negative = b.compare(Predicate::lt, v, b.like(v, 0));
  setQuantizedOutput(n, b, b.select(negative, b.mul(v, n.real("alpha", 0.01f)), v), 3, x.element);
}

/// QLinearSoftmax. If the attribute 'opset', that of the original Softmax, is below 13, x is
/// reshaped to a matrix of the dimensions before `axis` and those from `axis` on.
void softmax(Node &n, Build &b) {
  QuantizedInput x = readQuantizedInput(n, b, 0);
  int64_t opset = n.integer("opset", 0), rank = b.rank(x.values);
  if (!b.require(opset > 0, "attribute 'opset' is required, and must be positive"))
    return;
  int64_t axis = b.axis(n.integer("axis", opset < 13 ? 1 : -1), rank);
  if (!b.ok())
    return;
  Value v = real(b, x);
  if (opset < 13) {
    int64_t rows = 1, columns = 1;
    for (int64_t i = 0; i < rank; ++i)
      (i < axis ? rows : columns) *= b.shape(v)[i];
    v = b.reshape(b.softmax(b.reshape(v, {rows, columns}), 1), b.shape(v));
  } else {
    v = b.softmax(v, axis);
  }
  setQuantizedOutput(n, b, v, 3, x.element);
}

void where(Node &n, Build &b) {
  QuantizedInput x = readQuantizedInput(n, b, 1), y = readQuantizedInput(n, b, 4);
  if (b.require(x.element == y.element, "X and Y must have one element type"))
    setQuantizedOutput(n, b, b.select(n.in(0), real(b, x), real(b, y)), 7, x.element);
}

/// QLinearConcat. Inputs 0 and 1 are the result's scale and zero point. Three inputs follow for
/// each operand: the tensor, its scale and its zero point.
void concat(Node &n, Build &b) {
  Type element = b.elem(n.in(1));
  std::vector<Value> parts;
  if (!b.require(n.numInputs() >= 5 && (n.numInputs() - 2) % 3 == 0,
                 "after Y's scale and zero point, each tensor must have both too; there are " +
                     Twine(n.numInputs()) + " inputs"))
    return;
  for (int64_t i = 2; i < n.numInputs() && b.ok(); i += 3) {
    QuantizedInput x = readQuantizedInput(n, b, i);
    if (b.require(x.element == element, "all tensors must have the type of Y's zero point"))
      parts.push_back(real(b, x));
  }
  if (!b.ok() || !b.require(n.hasAttr("axis"), "attribute 'axis' is required"))
    return;
  setQuantizedOutput(n, b, b.concat(parts, b.axis(n.integer("axis", 0), b.rank(parts[0]))), 0,
                     element);
}

/// Returns the mean over axes in f32, computed from the exact integer sum.
Value buildMean(Build &b, const QuantizedInput &x, ArrayRef<int64_t> axes, bool keepdims) {
  double number = 1;
  for (int64_t axis : axes)
    number *= double(b.shape(x.values)[size_t(axis)]);
  Value sum =
      b.reduce(ReduceKind::sum, subtractZeroPoint(b, x.values, x.by.zeroPoint), axes, keepdims);
  return b.mul(b.cast(sum, b.f32), b.div(b.cast(x.by.scale, b.f32), number));
}

void reduceMean(Node &n, Build &b) {
  QuantizedInput x = readQuantizedInput(n, b, 0);
  if (!b.ok() || !b.require(n.hasAttr("axes"), "attribute 'axes' is required"))
    return;
  Dims axes = n.integers("axes");
  for (int64_t &axis : axes)
    axis = b.axis(axis, b.rank(x.values));
  std::sort(axes.begin(), axes.end());
  if (b.ok())
    setQuantizedOutput(n, b, buildMean(b, x, axes, n.integer("keepdims", 1) != 0), 3, x.element);
}

void globalAveragePool(Node &n, Build &b) {
  QuantizedInput x = readQuantizedInput(n, b, 0);
  int64_t rank = b.rank(x.values), first = n.integer("channels_last", 0) ? 1 : 2;
  Dims axes;
  for (int64_t i = 0; i + 2 < rank; ++i)
    axes.push_back(first + i);
  if (b.require(rank >= 3, "required a batch, channels and spatial dimensions"))
    setQuantizedOutput(n, b, buildMean(b, x, axes, true), 3, x.element);
}

void averagePool(Node &n, Build &b) {
  QuantizedInput x = readQuantizedInput(n, b, 0);
  bool last = n.integer("channels_last", 0) != 0;
  if (!b.ok())
    return;
  Value v = buildAveragePool(n, b, last ? moveChannelsFirst(b, real(b, x)) : real(b, x));
  setQuantizedOutput(n, b, last ? moveChannelsLast(b, v) : v, 3, x.element);
}

const Operator table[] = {
    {"QLinearAdd", 2, binary<AddOp>},
    {"QLinearMul", 2, binary<MulOp>},
    {"QLinearSigmoid", 2, sigmoid},
    {"QLinearLeakyRelu", 2, leakyRelu, "alpha"},
    {"QLinearSoftmax", 2, softmax, "axis opset"},
    {"QLinearWhere", 3, where},
    {"QLinearConcat", 3, concat, "axis"},
    {"QLinearReduceMean", 2, reduceMean, "axes keepdims"},
    {"QLinearGlobalAveragePool", 2, globalAveragePool, "channels_last"},
    {"QLinearAveragePool", 2, averagePool,
     "auto_pad ceil_mode channels_last count_include_pad kernel_shape pads strides"},
};

} // namespace

ArrayRef<Operator> quantizedOperators() { return table; }

} // namespace dlc::onnxfront
