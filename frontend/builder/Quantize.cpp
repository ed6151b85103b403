//===- Quantize.cpp - quantization parameters and dequantization ----------===//
#include "frontend/builder/Quantize.h"

using namespace mlir;

namespace dlc::frontend {

Value broadcastAlongAxis(Build &b, Value v, Value x, BlockQuantization blocks) {
  if (!v || b.rank(v) == 0)
    return v;
  int64_t axis = blocks.axis;
  if (b.rank(v) == 1 && blocks.size == 0) {
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
  if (!b.ok() || !b.require(Build::isSane(blocks.size, 1) && b.rank(v) == b.rank(x),
                            "scales per block need the attribute 'block_size', and x's rank"))
    return {};
  int64_t covered = b.shape(v)[axis] * blocks.size, size = b.shape(x)[axis];
  return b.require(covered >= size, "the blocks do not cover x") &&
                 b.require(covered < size + blocks.size, "there are more blocks than x has")
             ? v
             : Value();
}

SmallVector<NamedAttribute> blockAttributes(Build &b, Value x, Value scale,
                                            BlockQuantization blocks) {
  if (blocks.size == 0 || b.rank(scale) == 0)
    return {};
  return {b.attr("axis", b.axis(blocks.axis, b.rank(x))), b.attr("block_size", blocks.size)};
}

Value subtractZeroPoint(Build &b, Value x, Value zeroPoint) {
  x = b.cast(x, b.i32);
  return zeroPoint ? b.sub(x, b.cast(zeroPoint, b.i32)) : x;
}

Value buildDequantize(Build &b, Value x, const QuantizationParams &q, BlockQuantization blocks) {
  if (!b.ok())
    return {};
  SmallVector<Value> operands{x, q.scale};
  if (q.zeroPoint)
    operands.push_back(q.zeroPoint);
  return b.op<DequantizeOp>(operands, blockAttributes(b, x, q.scale, blocks));
}

std::optional<ref::Tensor> getConstantElements(Value v) {
  std::optional<ref::Tensor> found;
  if (auto op = v ? v.getDefiningOp<ConstantOp>() : ConstantOp())
    if (auto tensor = ref::Tensor::fromAttr(op.getValue()); succeeded(tensor))
      found = *tensor;
  return found;
}

} // namespace dlc::frontend
