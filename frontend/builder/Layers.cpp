//===- Layers.cpp - normalizations, and heads of attention ----------------===//
#include "frontend/builder/Layers.h"

using namespace mlir;

namespace dlc::frontend {

/// Builds a normalization operation. Its scale and its bias may be null.
template <typename Op>
static Value buildNorm(Build &b, Value x, Value scale, Value bias, NamedAttribute over,
                       double eps) {
  SmallVector<Value> operands{x};
  if (scale)
    operands.push_back(scale);
  if (bias)
    operands.push_back(bias);
  SmallVector<int32_t> segments{1, scale ? 1 : 0, bias ? 1 : 0};
  return b.op<Op>(operands, {over, b.attrFloat("eps", eps),
                             b.attr("operandSegmentSizes", b.b.getDenseI32ArrayAttr(segments))});
}

Value layerNorm(Build &b, Value x, Value scale, Value bias, int64_t axis, double eps) {
  return buildNorm<LayerNormOp>(b, x, scale, bias, b.attr("axis", axis), eps);
}

Value groupNorm(Build &b, Value x, Value scale, Value bias, int64_t groups, double eps) {
  return buildNorm<GroupNormOp>(b, x, scale, bias, b.attr("groups", groups), eps);
}

Value rmsNorm(Build &b, Value x, Value scale, int64_t axis, double eps) {
  return b.op<RmsNormOp>({x, b.cast(scale, b.elem(x))},
                         {b.attr("axis", axis), b.attrFloat("eps", eps)});
}

Value splitHeads(Build &b, Value x, int64_t heads) {
  if (!b.require(b.rank(x) == 3 && heads > 0 && b.dim(x, 2) % heads == 0,
                 "the number of heads must divide the last dimension of a tensor of rank 3"))
    return {};
  return b.transpose(b.reshape(x, {b.dim(x, 0), b.dim(x, 1), heads, b.dim(x, 2) / heads}),
                     {0, 2, 1, 3});
}

Value joinHeads(Build &b, Value x) {
  if (!b.require(b.rank(x) == 4, "required rank 4"))
    return {};
  return b.reshape(b.transpose(x, {0, 2, 1, 3}),
                   {b.dim(x, 0), b.dim(x, 2), b.dim(x, 1) * b.dim(x, 3)});
}

Value repeatHeads(Build &b, Value x, int64_t times) {
  if (times == 1)
    return x;
  Dims wide = b.dims(b.expandDims(x, 2)), merged = b.dims(x);
  if (!b.ok())
    return {};
  wide[2] = times;
  merged[1] *= times;
  return b.reshape(b.broadcast(b.expandDims(x, 2), wide), merged);
}

} // namespace dlc::frontend
