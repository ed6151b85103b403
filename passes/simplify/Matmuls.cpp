//===- Matmuls.cpp - moves scalars and broadcasts out of matmul operands ---===//
#include "passes/ConstantRewrites.h"
#include "passes/QuantizedWeights.h"
#include "passes/TensorBuilder.h"
#include "passes/simplify/Patterns.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc {
namespace {

/// Operand of a matmul that is multiplied by a constant factor, possibly followed by operations
/// that only move elements.
struct ScaledOperand {
  double factor;
  Value unscaled;                 ///< value before the multiplication by the factor
  SmallVector<Operation *> views; ///< operations that move the scaled value, last one first

  /// Returns the operand without the constant factor, by cloning the views onto the unscaled value.
  Value rebuild(PatternRewriter &rewriter) const {
    Value result = unscaled;
    for (Operation *view : llvm::reverse(views)) {
      IRMapping mapping;
      mapping.map(view->getOperand(0), result);
      result = rewriter.clone(*view, mapping)->getResult(0);
    }
    return result;
  }
};

std::optional<ScaledOperand> matchScaledOperand(Value operand) {
  ScaledOperand found;
  Value value = operand;
  for (int depth = 0; depth < 6; ++depth) {
    Operation *op = value.getDefiningOp();
    if (!op || !value.hasOneUse())
      return std::nullopt;
    if (auto mul = dyn_cast<MulOp>(op)) {
      for (auto [x, c] : {std::pair<Value, Value>(mul.getA(), mul.getB()),
                          std::pair<Value, Value>(mul.getB(), mul.getA())}) {
        std::optional<double> factor = splatValue(c);
        if (!factor || shapeOf(x) != shapeOf(value))
          continue;
        found.factor = *factor;
        found.unscaled = x;
        return found;
      }
      return std::nullopt;
    }
    if (!isa<TransposeOp, ReshapeOp, SliceOp>(op))
      return std::nullopt;
    found.views.push_back(op);
    value = op->getOperand(0);
  }
  return std::nullopt;
}

// matmul(s a, t b) -> s t matmul(a, b): one multiplication by a constant, which is fused into the
// epilogue of the matmul's kernel
struct ScaleAfterMatmul : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    Type element = typeOf(op.getY()).getElementType();
    // 16-bit matmuls are excluded, because a 16-bit result could overflow before it is scaled.
    if (!element.isF32() && !element.isF64())
      return failure();
    // Matmuls with quantized weights are excluded, because their kernels read the weights together
    // with the scales.
    if (getQuantizedWeights(op))
      return failure();
    auto a = matchScaledOperand(op.getA()), b = matchScaledOperand(op.getB());
    double ofA = a ? a->factor : 1, ofB = b ? b->factor : 1;
    if ((!a && !b) ||
        !isRewriteAllowed({ConstantRewrite::Kind::MoveFactors, element, {ofA, ofB}}, op))
      return failure();
    TensorBuilder builder(rewriter, op.getLoc());
    Value y = builder.make<MatmulOp>(a ? a->rebuild(rewriter) : op.getA(),
                                     b ? b->rebuild(rewriter) : op.getB(), op.getTransposeA(),
                                     op.getTransposeB());
    y.getDefiningOp()->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    // The product of the two factors is computed in double, because both are often the square root
    // of a number that is representable exactly.
    rewriter.replaceOpWithNewOp<MulOp>(op, y, builder.scalar(ofA * ofB, y));
    return success();
  }
};

// matmul(broadcast(a), b) -> matmul(a, b) if only batch dimensions are broadcast, and b already has
// the batch dimensions of the result
struct BroadcastIntoMatmul : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    for (OpOperand &operand : op->getOpOperands().take_front(2)) {
      auto broadcast = operand.get().getDefiningOp<BroadcastOp>();
      if (!broadcast || !typeOf(broadcast.getX()).hasStaticShape() ||
          typeOf(broadcast.getX()).getRank() < 2)
        continue;
      ArrayRef<int64_t> from = shapeOf(broadcast.getX()), to = shapeOf(broadcast.getY());
      if (from.take_back(2) != to.take_back(2))
        continue;
      // The operand that is not broadcast must have the batch dimensions of the result.
      ArrayRef<int64_t> other = shapeOf(op->getOperand(1 - operand.getOperandNumber()));
      ArrayRef<int64_t> batch = shapeOf(op.getY()).drop_back(2);
      if (other.size() < 2 || other.drop_back(2) != batch)
        continue;
      rewriter.modifyOpInPlace(op, [&] { operand.set(broadcast.getX()); });
      return success();
    }
    return failure();
  }
};

} // namespace

void addMatmuls(RewritePatternSet &patterns) {
  patterns.add<ScaleAfterMatmul, BroadcastIntoMatmul>(patterns.getContext());
}

} // namespace dlc
