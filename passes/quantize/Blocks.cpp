//===- Blocks.cpp - matmuls by constant quantized weights -------------------===//
//
//   x·dequantize(Q, s, z)  ->  the same with constant operands, for a kernel that reads Q
//   (passes/QuantizedWeights.h)
//                          ->  Σ over blocks (x·cast(Q - z)) * s, for few rows without that kernel
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/Blocks.h"

#include "ir/dlc/Attributes.h"
#include "ir/dlc/Infer.h"
#include "passes/QuantizedWeights.h"
#include "passes/precision/Names.h"
#include "passes/quantize/Expand.h"
#include "passes/quantize/IntegerOperands.h"
#include "passes/simplify/Constants.h"

using namespace mlir;

namespace dlc::quantize {
namespace {

std::optional<ref::Tensor> evaluateIfConstant(Value v) {
  return isComputedFromConstants(v) ? evaluateConstant(v) : std::nullopt;
}

/// Returns the dequantization that defines the weights of a matmul, or null. A transposition
/// between them is replaced by the matmul's transpose flag.
DequantizeOp findWeightDequantization(MatmulOp product) {
  Value w = product.getB();
  if (typeOf(w).getRank() != 2)
    return {};
  auto transpose = w.getDefiningOp<TransposeOp>();
  auto op = (transpose ? transpose.getX() : w).getDefiningOp<DequantizeOp>();
  if (op && transpose) {
    product.getBMutable().assign(op.getY());
    if (transpose.getPermutation()[0] == 1)
      product.setTransposeB(!product.getTransposeB());
  }
  return op;
}

/// Checks whether a dequantization has a scale or a zero point for each of several blocks along the
/// reduction dimension of the matmul.
bool isBlockQuantized(MatmulOp product, DequantizeOp op) {
  return hasBlockParameters(op) && int64_t(*op.getAxis()) == int64_t(product.getTransposeB());
}

/// Makes the operands of the dequantization constants, and marks the matmul so that its kernel
/// reads the quantized values. Returns false if the kernel does not support them.
bool markQuantizedWeights(MatmulOp product) {
  // A matmul of two constants is evaluated at compile time and needs no kernel.
  if (precision::isStrictAccuracy(product) || isComputedFromConstants(product.getA()) ||
      !QuantizedWeights::read(product, evaluateIfConstant))
    return false;
  OpBuilder builder(product);
  Operation *own = builder.clone(*product.getB().getDefiningOp());
  builder.setInsertionPoint(own);
  for (OpOperand &operand : own->getOpOperands())
    if (!operand.get().getDefiningOp<ConstantOp>())
      operand.set(makeConstant(builder, own->getLoc(), *evaluateIfConstant(operand.get()),
                               typeOf(operand.get())));
  product.getBMutable().assign(own->getResult(0));
  product->setAttr(kQuantizedWeightsAttr, builder.getUnitAttr());
  product->setAttr(kPrecisionAttr, builder.getStringAttr("f32"));
  return true;
}

/// Rewrites the matmul as one matmul of x for each block, whose results are scaled and summed over
/// the blocks. For many rows the intermediate results would be larger than the weights. Returns
/// null unless the quantized values minus their zero points are in the range of i8.
Value splitMatmulByBlocks(MatmulOp product, DequantizeOp op) {
  OpBuilder builder(product);
  TensorBuilder b(builder, product.getLoc());
  const int64_t axis = product.getTransposeB(), depth = int64_t(*op.getBlockSize());
  Value x = product.getA(), zero = op.getZeroPoint();
  const int64_t n = shapeOf(op.getY())[1 - axis], k = shapeOf(op.getY())[axis], blocks = k / depth;
  if (k % depth || product.getTransposeA() || (zero && !isComputedFromConstants(zero)) ||
      (zero && isa<FloatType>(typeOf(zero).getElementType())))
    return {};
  // Splits the reduction dimension into blocks: the result is [blocks, depth, n] for weights, or
  // [blocks, 1, n] for scales and zero points.
  auto split = [&](Value v) {
    const int64_t size = typeOf(v).getNumElements() / n / blocks;
    return axis ? b.make<TransposeOp>(b.reshape(v, {n, blocks, size}), ArrayRef<int64_t>{1, 2, 0})
                : b.reshape(v, {blocks, size, n});
  };
  auto perBlock = [&](Value v) {
    SmallVector<int64_t> shape{n, blocks};
    if (!axis)
      std::swap(shape[0], shape[1]);
    return split(shapeOf(v) == ArrayRef(shape) ? v : b.broadcast(v, shape));
  };
  Value numbers = split(unpacked(builder, op.getX()));
  numbers = subtractZeroPoint(builder, op.getLoc(), numbers,
                              zero ? perBlock(unpacked(builder, zero)) : zero);
  auto all = evaluateIfConstant(numbers), narrow = all ? narrowToInt8(*all) : std::nullopt;
  if (!narrow)
    return {};
  numbers = makeConstant(builder, op.getLoc(), *narrow, typeOf(numbers).clone(builder.getI8Type()));
  const int64_t rows = typeOf(x).getNumElements() / k;
  Value left = b.make<TransposeOp>(b.reshape(x, {rows, blocks, depth}), ArrayRef<int64_t>{1, 0, 2});
  Value each = b.make<MatmulOp>(left, b.cast(numbers, builder.getF32Type()), false, false);
  Value scaled = b.make<MulOp>(each, perBlock(op.getScale()));
  return b.reshape(b.reduce(ReduceKind::sum, scaled, {0}), shapeOf(product.getY()));
}

} // namespace

bool hasBlockParameters(DequantizeOp op) {
  return op.getBlockSize() && llvm::any_of(op->getOperands().drop_front(), [&](Value each) {
           return typeOf(each).getRank() != 0 && shapeOf(each)[*op.getAxis()] != 1;
         });
}

bool keepBlockQuantizedWeights(MatmulOp product, Costs *costs) {
  constexpr int64_t kMaxWeightBoundRows = 4, kMin = 4096;
  DequantizeOp op = findWeightDequantization(product);
  if (!op || !isBlockQuantized(product, op) || typeOf(op.getY()).getNumElements() < kMin ||
      !isComputedFromConstants(op.getX()) || !isComputedFromConstants(op.getScale()))
    return false;
  if (costs && costs->capabilities().maxBlockScaledRows > 0 && markQuantizedWeights(product))
    return true;
  const int64_t rows = typeOf(product.getA()).getNumElements() / shapeOf(product.getA()).back();
  Value y = rows <= kMaxWeightBoundRows ? splitMatmulByBlocks(product, op) : Value();
  if (!y)
    return false;
  product.getY().replaceAllUsesWith(y);
  product.erase();
  return true;
}

bool keepChannelQuantizedWeights(MatmulOp product, Costs &costs) {
  DequantizeOp op = findWeightDequantization(product);
  return op && !isBlockQuantized(product, op) && costs.capabilities().maxBlockScaledRows > 0 &&
         markQuantizedWeights(product);
}

} // namespace dlc::quantize
