//===- QuantizedContract.cpp - matmuls of quantized operands --------------===//
#include "frontend/onnx/Families.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

/// Returns the number of columns of a matrix, which is the maximum number of scales of an operand.
int64_t columns(Build &b, Value x) { return b.rank(x) ? b.dim(x, -1) : 1; }

Value addBias(Build &b, Value y, Value bias) {
  if (!bias)
    return y;
  return b.require(b.rank(bias) == 1 && b.count(bias) == columns(b, y),
                   "the bias must have one element per column, " + Twine(columns(b, y)) +
                       ", and has " + Twine(b.count(bias)))
             ? b.add(y, bias)
             : Value();
}

/// DynamicQuantizeMatMul: quantizes A with a range computed at run time and multiplies it by
/// quantized weights.
void dynamicQuantizeMatMul(Node &n, Build &b) {
  Value w = n.in(1);
  QuantizationParams wq = readQuantization(n, b, 2, 3, b.elem(w), columns(b, w));
  if (!b.ok())
    return;
  DynamicQuantizeResult x = quantizeDynamically(b, n.in(0));
  n.set(0, addBias(b, buildQuantizedMatmul(b, x.values, x.by, w, wq), n.in(4)));
}

void matMulIntegerToFloat(Node &n, Build &b) {
  Value x = n.in(0), w = n.in(1);
  QuantizationParams xq = readQuantization(n, b, 2, 4, b.elem(x)),
                     wq = readQuantization(n, b, 3, 5, b.elem(w), columns(b, w));
  if (b.ok())
    n.set(0, addBias(b, buildQuantizedMatmul(b, x, xq, w, wq), n.in(6)));
}

/// QGemm. C is i32 and its scale is the product of A's and B's scales. If there is no scale of Y,
/// the result is floating-point.
void qGemm(Node &n, Build &b) {
  Value x = n.in(0), w = n.in(3), c = n.in(6);
  if (!b.require(b.rank(x) == 2 && b.rank(w) == 2, "A and B must be matrices") ||
      !b.require(!c || b.elem(c) == b.i32, "C must be of type i32") ||
      !b.require(n.has(7) || !n.has(8), "a zero point of Y needs a scale of Y"))
    return;
  w = n.integer("transB", 0) ? b.swapLast(w) : w;
  QuantizationParams xq = readQuantization(n, b, 1, 2, b.elem(x)),
                     wq = readQuantization(n, b, 4, 5, b.elem(w), columns(b, w));
  if (!b.ok())
    return;
  Value sum = buildIntegerMatmul(b, n.integer("transA", 0) ? b.swapLast(x) : x, xq.zeroPoint, w,
                                 wq.zeroPoint);
  if (c)
    sum = b.add(sum, c);
  Value scale = b.mul(b.mul(xq.scale, wq.scale), n.real("alpha", 1));
  auto scaled = [&] { return b.mul(b.cast(sum, b.elem(scale)), scale); };
  if (!n.has(7))
    return n.set(0, scaled());
  Type element = n.has(8) ? b.elem(n.in(8)) : b.elem(x);
  QuantizationParams yq = readQuantization(n, b, 7, 8, element);
  if (!b.ok())
    return;
  // Combines the scales of the operands and of the result, so that the accumulators are multiplied
  // only once.
  scale = b.div(scale, yq.scale);
  n.set(0, roundAndAddZeroPoint(b, scaled(), yq.zeroPoint, element));
}

const Operator table[] = {
    {"DynamicQuantizeMatMul", 3, dynamicQuantizeMatMul},
    {"MatMulIntegerToFloat", 4, matMulIntegerToFloat},
    {"QGemm", 6, qGemm, "alpha transA transB"},
};

} // namespace

ArrayRef<Operator> quantizedContractOperators() { return table; }

} // namespace dlc::onnxfront
