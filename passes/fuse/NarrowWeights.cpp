//===- NarrowWeights.cpp - 8-bit weights of integer matmuls and convolutions on GPUs ----===//
//
//   w                   ->  cast(w')              if all elements fit i8
//   w                   ->  cast(w') - zero       if their range fits 8 bits
//   matmul a, [K, N]    ->  matmul a, [N, K] transpose_b
//
// Tensor cores read 8-bit integers that are contiguous along the reduced dimension K. When this
// runs, zero points per channel and casts of small constants have been folded into the weights w.
//
//===----------------------------------------------------------------------===//
#include "passes/Devices.h"
#include "passes/Widened.h"
#include "passes/fuse/FuseSteps.h"
#include "passes/simplify/Constants.h"

using namespace mlir;

namespace dlc {

namespace {

/// Weights as 8-bit integers: w = numbers - zeroPoint.
struct Narrow {
  ref::Tensor numbers;
  int64_t zeroPoint = 0;
};

std::optional<Narrow> narrowed(const ref::Tensor &weights) {
  int64_t low = 0, high = 0;
  for (int64_t i = 0; i < weights.size(); ++i) {
    low = std::min(low, weights.getInt(i));
    high = std::max(high, weights.getInt(i));
  }
  if (high - low > 255)
    return std::nullopt;
  bool isSigned = low >= -128 && high <= 127;
  MLIRContext *context = weights.getType().getContext();
  auto sign = isSigned ? IntegerType::Signless : IntegerType::Unsigned;
  Narrow narrow{ref::Tensor::empty(
                    RankedTensorType::get(weights.getShape(), IntegerType::get(context, 8, sign))),
                isSigned ? 0 : -low};
  for (int64_t i = 0; i < weights.size(); ++i)
    narrow.numbers.setInt(i, weights.getInt(i) + narrow.zeroPoint);
  return narrow;
}

void narrow(Operation *op) {
  // A reorder is moved before the extension to i32 (NarrowReorders.cpp), so that its operand is
  // converted.
  auto reorder = op->getOperand(1).getDefiningOp<ReorderOp>();
  OpOperand &operand = reorder ? reorder.getXMutable() : op->getOpOperand(1);
  RankedTensorType type = typeOf(operand.get());
  OpBuilder builder(operand.getOwner());
  TensorBuilder b(builder, op->getLoc());
  auto constant = [&](const ref::Tensor &tensor) {
    RankedTensorType plain = tensor.getType();
    return makeConstant(
        builder, op->getLoc(), tensor,
        RankedTensorType::get(plain.getShape(), plain.getElementType(), type.getEncoding()));
  };
  auto widened = matchWidened(operand);
  if (!widened && isOfConstants(operand.get())) {
    auto weights = evaluated(operand.get());
    auto bytes = weights ? narrowed(*weights) : std::nullopt;
    if (!bytes)
      return;
    Value value = b.cast(constant(bytes->numbers), builder.getI32Type());
    if (bytes->zeroPoint != 0)
      value = b.make<SubOp>(value, b.scalar(double(bytes->zeroPoint), operand.get()));
    operand.set(value);
    widened = matchWidened(operand);
  }
  auto product = dyn_cast<MatmulOp>(op);
  auto plain = widened ? constantTensor(widened->x) : std::nullopt;
  if (!product || product.getTransposeB() || type.getRank() != 2 || !plain)
    return;
  auto turned =
      evaluated(b.make<TransposeOp>(b.make<ConstantOp>(plain->toAttr()), ArrayRef<int64_t>{1, 0}));
  if (!turned)
    return;
  Value value = b.cast(constant(*turned), builder.getI32Type());
  if (widened->zeroPoint)
    value = b.make<SubOp>(value, widened->zeroPoint);
  operand.set(value);
  product.setTransposeB(true);
}

} // namespace

void narrowWeights(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (isa<MatmulOp, ConvOp>(op) && isInt32(op.getResult(0).getType()) &&
        can(deviceOf(op.getResult(0).getType()), DLC_DEVICE_GPU_CODE))
      narrow(&op);
}

} // namespace dlc
