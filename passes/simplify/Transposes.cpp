//===- Transposes.cpp - sinks transposes and hoists reshapes that split ---===//
//
// A transpose moves towards its users until it meets its inverse, a matmul that reads transposed
// operands, or an operation that it cannot be moved across. A reshape that splits dimensions moves
// towards its operand's producer until it meets the reshape that merged them. The two directions
// never undo each other.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/Contraction.h"
#include "ir/dlc/Shape.h"
#include "passes/Dimensions.h"
#include "passes/TensorBuilder.h"
#include "passes/simplify/Patterns.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc {
namespace {

bool isStatic(Value value) { return typeOf(value).hasStaticShape(); }

// transpose(x) -> reshape(x) if only dimensions of size 1 are permuted
struct UnitTransposeToReshape : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    if (!isStatic(op.getX()))
      return failure();
    int64_t last = -1;
    for (int64_t from : op.getPermutation()) {
      if (shapeOf(op.getX())[from] == 1)
        continue;
      if (from < last)
        return failure();
      last = from;
    }
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getY().getType(), op.getX());
    return success();
  }
};

// reshape(transpose(x)) -> transpose(reshape(x)) if the reshape splits dimensions
struct SplitBeforeTranspose : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getX().getDefiningOp<TransposeOp>();
    if (!transpose || !transpose.getY().hasOneUse() || !isStatic(op.getX()) || !isStatic(op.getY()))
      return failure();
    auto groups = splitGroups(shapeOf(op.getX()), shapeOf(op.getY()));
    if (!groups)
      return failure();
    // Dimension d of the transposed value is dimension permutation[d] of x, which the new reshape
    // splits in the same way.
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    SmallVector<int64_t> inverse = invertPermutation(permutation), shape,
                         position(shapeOf(op.getY()).size());
    for (int64_t d = 0, rank = permutation.size(); d < rank; ++d)
      for (int64_t part : (*groups)[inverse[d]]) {
        position[part] = shape.size();
        shape.push_back(shapeOf(op.getY())[part]);
      }
    TensorBuilder b(rewriter, op.getLoc());
    Value split = b.reshape(transpose.getX(), shape);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, split, position);
    return success();
  }
};

/// Sinks transposes of operands below an elementwise operation. Each operand must be transposed in
/// the same way, or have at most one dimension of a size other than 1.
struct SinkThroughElementwise : OpTraitRewritePattern<Elementwise> {
  using OpTraitRewritePattern::OpTraitRewritePattern;

  // op(transpose(x), y) -> transpose(op(x, y')), with y' the operand y with its dimensions permuted
  // accordingly
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 || !isStatic(op->getResult(0)))
      return failure();
    RankedTensorType type = typeOf(op->getResult(0));
    // Casts of 8-bit integers to a wider type are excluded, because transposing 8-bit integers
    // moves fewer bytes.
    if (isa<CastOp>(op) && typeOf(op->getOperand(0)).getElementType().isInteger(8))
      return failure();
    TransposeOp first;
    for (Value operand : op->getOperands())
      if (auto transpose = operand.getDefiningOp<TransposeOp>())
        if (shapeOf(operand) == staticShape(type) && !first)
          first = transpose;
    if (!first)
      return failure();
    ArrayRef<int64_t> permutation = first.getPermutation();
    for (Value operand : op->getOperands()) {
      if (auto transpose = operand.getDefiningOp<TransposeOp>();
          transpose && shapeOf(operand) == staticShape(type)) {
        if (transpose.getPermutation() != permutation || !onlyUser(transpose, op))
          return failure();
        continue;
      }
      if (llvm::count_if(shapeOf(operand), [](int64_t d) { return d != 1; }) > 1)
        return failure();
    }
    TensorBuilder b(rewriter, op->getLoc());
    SmallVector<int64_t> inverse = invertPermutation(permutation);
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      ArrayRef<int64_t> own = shapeOf(operand);
      if (own == staticShape(type)) {
        if (auto transpose = operand.getDefiningOp<TransposeOp>()) {
          mapping.map(operand, transpose.getX());
          continue;
        }
      }
      if (llvm::all_of(own, [](int64_t d) { return d == 1; }))
        continue;
      mapping.map(operand, b.reshape(operand, permuteBroadcastShape(own, inverse)));
    }
    Operation *inner = rewriter.clone(*op, mapping);
    inner->getResult(0).setType(makeTensorType(permuteBroadcastShape(staticShape(type), inverse),
                                               type.getElementType(), type.getEncoding()));
    rewriter.replaceOpWithNewOp<TransposeOp>(op, type, inner->getResult(0), permutation);
    return success();
  }

  static bool onlyUser(TransposeOp transpose, Operation *op) {
    return llvm::all_of(transpose->getUsers(), [&](Operation *user) { return user == op; });
  }
};

bool swapsLastTwoDims(TransposeOp transpose) {
  if (!transpose)
    return false;
  ArrayRef<int64_t> p = transpose.getPermutation();
  int64_t rank = p.size();
  for (int64_t d = 0; d < rank - 2; ++d)
    if (p[d] != d)
      return false;
  return rank >= 2 && p[rank - 1] == rank - 2;
}

// matmul(transpose(x), y) -> matmul(x, y) with the transpose flag inverted, if the last two
// dimensions are swapped
struct TransposeIntoMatmul : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    auto a = op.getA().getDefiningOp<TransposeOp>();
    auto b = op.getB().getDefiningOp<TransposeOp>();
    if ((!swapsLastTwoDims(a) && !swapsLastTwoDims(b)) || !hasSingleZeroPoints(op))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      if (swapsLastTwoDims(a)) {
        op.setTransposeA(!op.getTransposeA());
        op.getAMutable().assign(a.getX());
      }
      if (swapsLastTwoDims(b)) {
        op.setTransposeB(!op.getTransposeB());
        op.getBMutable().assign(b.getX());
      }
    });
    return success();
  }
};

// grouped_matmul(x, transpose(w)) -> grouped_matmul(x, w) with the transpose flag inverted
struct TransposeIntoGroupedMatmul : OpRewritePattern<GroupedMatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GroupedMatmulOp op, PatternRewriter &rewriter) const override {
    auto b = op.getB().getDefiningOp<TransposeOp>();
    if (!swapsLastTwoDims(b))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.setTransposeB(!op.getTransposeB());
      op.getBMutable().assign(b.getX());
    });
    return success();
  }
};

// transpose(grouped_weight_grad(x, dy)) -> grouped_weight_grad(dy, x)
struct TransposedGroupedWeightGrad : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto gradient = op.getX().getDefiningOp<GroupedWeightGradOp>();
    if (!gradient || !gradient.getDb().hasOneUse() || !swapsLastTwoDims(op))
      return failure();
    auto transposed = rewriter.replaceOpWithNewOp<GroupedWeightGradOp>(
        op, op.getType(), gradient.getDy(), gradient.getA(), gradient.getEnds());
    transposed->setDiscardableAttrs(gradient->getDiscardableAttrDictionary());
    return success();
  }
};

// matmul(transpose(x), w) -> transpose(matmul(x, w)) for a matrix w, if the last dimension is not
// permuted. Not applied if the result is so much wider than the operand (as for logits) that
// transposing the result would cost more.
struct SinkThroughMatmul : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getA().getDefiningOp<TransposeOp>();
    if (!transpose || !transpose.getY().hasOneUse() || op.getTransposeA() ||
        typeOf(op.getB()).getRank() != 2 || !isStatic(op.getY()) || !hasSingleZeroPoints(op))
      return failure();
    constexpr int64_t wide = 8;
    if (shapeOf(op.getY()).back() > wide * shapeOf(op.getA()).back())
      return failure();
    ArrayRef<int64_t> p = transpose.getPermutation();
    if (p.back() != int64_t(p.size()) - 1)
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    Value y = b.make<MatmulOp>(transpose.getX(), op.getB(), op.getAZeroPoint(), op.getBZeroPoint(),
                               false, op.getTransposeB());
    y.getDefiningOp()->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOpWithNewOp<TransposeOp>(op, y, p);
    return success();
  }
};

/// Returns whether a reshape from `from` to `to` splits only dimensions other than the last one,
/// and keeps the last one.
bool splitsLeadingDimsOnly(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  if (from.empty() || to.size() < from.size() || from.back() != to.back())
    return false;
  auto groups = splitGroups(from.drop_back(), to.drop_back());
  return groups.has_value();
}

// reshape(matmul(x, w)) -> matmul(reshape(x), w) for a matrix w, if the reshape splits rows
struct SplitRowsBeforeMatmul : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto matmul = op.getX().getDefiningOp<MatmulOp>();
    if (!matmul || !matmul.getY().hasOneUse() || matmul.getTransposeA() || !isStatic(op.getY()) ||
        !isStatic(matmul.getA()) || typeOf(matmul.getB()).getRank() != 2 ||
        !splitsLeadingDimsOnly(shapeOf(op.getX()), shapeOf(op.getY())) ||
        !hasSingleZeroPoints(matmul))
      return failure();
    // The matmul is applied to the reshaped rows, so that users of the reshape, such as a residual
    // addition, directly follow the matmul and can be fused with it.
    TensorBuilder b(rewriter, op.getLoc());
    SmallVector<int64_t> shape(shapeOf(op.getY()));
    shape.back() = shapeOf(matmul.getA()).back();
    Value y =
        b.make<MatmulOp>(b.reshape(matmul.getA(), shape), matmul.getB(), matmul.getAZeroPoint(),
                         matmul.getBZeroPoint(), false, matmul.getTransposeB());
    y.getDefiningOp()->setDiscardableAttrs(matmul->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, y);
    return success();
  }
};

// reshape(op(x, c)) -> op(reshape(x), c) if the reshape splits rows and c has at most the last
// dimension
struct SplitRowsBeforeElementwise : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    Operation *inner = op.getX().getDefiningOp();
    if (!inner || !inner->hasTrait<Elementwise>() || inner->getNumResults() != 1 ||
        !op.getX().hasOneUse() || !isStatic(op.getX()) || !isStatic(op.getY()) ||
        !splitsLeadingDimsOnly(shapeOf(op.getX()), shapeOf(op.getY())))
      return failure();
    ArrayRef<int64_t> shape = shapeOf(op.getX());
    Value full;
    for (Value operand : inner->getOperands()) {
      ArrayRef<int64_t> own = shapeOf(operand);
      if (own == shape && !full)
        full = operand;
      else if (llvm::any_of(own.empty() ? own : own.drop_back(),
                            [](int64_t d) { return d != 1; }) ||
               own == shape)
        return failure();
    }
    // The reshape is moved only if it can then be moved before a matmul.
    if (!full || !reachesMatmul(full))
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    IRMapping mapping;
    mapping.map(full, b.reshape(full, shapeOf(op.getY())));
    for (Value operand : inner->getOperands())
      if (operand != full && typeOf(operand).getRank() > 1)
        mapping.map(operand, b.reshape(operand, shapeOf(operand).take_back(1)));
    Operation *moved = rewriter.clone(*inner, mapping);
    moved->getResult(0).setType(op.getY().getType());
    rewriter.replaceOp(op, moved);
    return success();
  }

  static bool reachesMatmul(Value value) {
    for (int i = 0; i < 4; ++i) {
      Operation *def = value.getDefiningOp();
      if (!def || !value.hasOneUse())
        return false;
      if (isa<MatmulOp>(def))
        return true;
      if (!def->hasTrait<Elementwise>())
        return false;
      value = def->getOperand(0);
    }
    return false;
  }
};

} // namespace

void addTransposes(RewritePatternSet &patterns) {
  patterns.add<UnitTransposeToReshape, SplitBeforeTranspose, SinkThroughElementwise,
               SinkThroughMatmul, SplitRowsBeforeMatmul, SplitRowsBeforeElementwise>(
      patterns.getContext());
  patterns.add<TransposeIntoMatmul, TransposeIntoGroupedMatmul, TransposedGroupedWeightGrad>(
      patterns.getContext(), /*benefit=*/2);
}

} // namespace dlc
