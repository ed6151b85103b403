//===- Raise.cpp - dequantizations that a model spells out ----------------===//
//
//   ((x in i32) - z in s's type) * s   ->  dequantize x, s, z
//   ((x in s's type) - z) * s          ->  dequantize x, s, z
//
//   reshape to [.., b d](dequantize x [.., b, d], s [.., b, 1])  ->  dequantize x', s' block_size d
//   slice of rows' first elements(dequantize x, s block_size d)  ->  dequantize x', s block_size d
//
// for integers x of 4 to 16 bits. The subtraction is optional. Exporters without an operation for
// dequantization and PyTorch's decomposed operators write this form. No other pass matches it.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/TensorBuilder.h"
#include "passes/simplify/Constants.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace dlc {
namespace {

/// Width of an integer type with a sign or without one; 0 for other types.
unsigned widthOf(Value value) {
  auto type = dyn_cast<IntegerType>(typeOf(value).getElementType());
  return type ? type.getWidth() : 0;
}

bool isQuantized(Value value) { return widthOf(value) >= 4 && widthOf(value) <= 16; }

struct Difference {
  Value x, zeroPoint; ///< zeroPoint: null for 0
};

/// Matches x, or x minus a zero point, in a signed integer type that holds every difference.
std::optional<Difference> integerDifference(Value value) {
  Difference found;
  if (auto sub = value.getDefiningOp<SubOp>()) {
    if (shapeOf(sub.getA()) != shapeOf(value))
      return std::nullopt;
    found.zeroPoint = sub.getB();
    value = sub.getA();
  }
  auto cast = value.getDefiningOp<CastOp>();
  if (!cast || !isQuantized(cast.getX()) || widthOf(value) < widthOf(cast.getX()) + 2 ||
      typeOf(value).getElementType().isUnsignedInteger())
    return std::nullopt;
  found.x = cast.getX();
  return found;
}

/// Matches (x - zero point) in a float type: with the difference computed in integers, or in that
/// type.
std::optional<Difference> difference(Value value) {
  Value zeroPoint;
  if (auto sub = value.getDefiningOp<SubOp>()) {
    if (shapeOf(sub.getA()) != shapeOf(value))
      return std::nullopt;
    zeroPoint = sub.getB();
    value = sub.getA();
  }
  auto cast = value.getDefiningOp<CastOp>();
  if (!cast || widthOf(cast.getX()) == 0)
    return std::nullopt;
  auto found = integerDifference(cast.getX());
  if (found && !(zeroPoint && found->zeroPoint)) {
    if (zeroPoint)
      found->zeroPoint = zeroPoint;
    return found;
  }
  return isQuantized(cast.getX()) ? std::optional(Difference{cast.getX(), zeroPoint})
                                  : std::nullopt;
}

/// A scale or zero point as dlc.dequantize takes it: of rank 0, or of the rank of its tensor.
Value withRank(OpBuilder &builder, Value value, int64_t rank) {
  if (!value)
    return value;
  SmallVector<int64_t> shape;
  if (typeOf(value).getNumElements() != 1) {
    shape.assign(rank - typeOf(value).getRank(), 1);
    llvm::append_range(shape, shapeOf(value));
  }
  if (shapeOf(value) == ArrayRef(shape))
    return value;
  return foldedConstant(builder, TensorBuilder(builder, value.getLoc()).reshape(value, shape));
}

/// The zero point in a type that dlc.dequantize takes: x's, i32, or the scale's.
Value zeroPointFor(TensorBuilder &b, const Difference &from, Type scale) {
  Value zero = from.zeroPoint;
  if (!zero)
    return zero;
  const bool isFloat = typeOf(zero).getElementType() == scale;
  // Floats of 16 bits do not hold every difference of integers.
  if (isFloat && !scale.isF32() && !scale.isF64())
    return zero;
  Type narrow = typeOf(from.x).getElementType();
  if (auto cast = zero.getDefiningOp<CastOp>();
      cast && typeOf(cast.getX()).getElementType() == narrow)
    return cast.getX();
  return isFloat ? zero : b.cast(zero, IntegerType::get(zero.getContext(), 32));
}

struct RaiseDequantize : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &rewriter) const override {
    if (!isa<FloatType>(typeOf(op.getY()).getElementType()))
      return failure();
    for (auto [value, scale] : {std::pair(op.getA(), op.getB()), std::pair(op.getB(), op.getA())}) {
      if (!typeOf(scale).hasStaticShape() || shapeOf(value) != shapeOf(op.getY()))
        continue;
      auto found = difference(value);
      if (!found || (found->zeroPoint && !typeOf(found->zeroPoint).hasStaticShape()))
        continue;
      TensorBuilder b(rewriter, op.getLoc());
      const int64_t rank = typeOf(found->x).getRank();
      Value zero = zeroPointFor(b, *found, typeOf(scale).getElementType());
      Value y = b.make<DequantizeOp>(found->x, withRank(rewriter, scale, rank),
                                     withRank(rewriter, zero, rank), IntegerAttr(), IntegerAttr());
      y.getDefiningOp()->setDiscardableAttrs(op->getDiscardableAttrDictionary());
      rewriter.replaceOp(op, y);
      return success();
    }
    return failure();
  }
};

struct RaiseBlocks : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto from = op.getX().getDefiningOp<DequantizeOp>();
    if (!from || from.getAxis() || typeOf(from.getX()).getRank() < 2 ||
        !typeOf(from.getX()).hasStaticShape())
      return failure();
    ArrayRef<int64_t> shape = shapeOf(from.getX());
    SmallVector<int64_t> merged(shape.drop_back());
    merged.back() *= shape.back();
    auto isOfBlocks = [&](Value each) {
      return !each || typeOf(each).getRank() == 0 || shapeOf(each).back() == 1;
    };
    if (shapeOf(op.getY()) != ArrayRef(merged) || typeOf(from.getScale()).getRank() == 0 ||
        !isOfBlocks(from.getScale()) || !isOfBlocks(from.getZeroPoint()))
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    auto perBlock = [&](Value each) {
      return each && typeOf(each).getRank() != 0
                 ? foldedConstant(rewriter, b.reshape(each, shapeOf(each).drop_back()))
                 : each;
    };
    Value y = b.make<DequantizeOp>(foldedConstant(rewriter, b.reshape(from.getX(), merged)),
                                   perBlock(from.getScale()), perBlock(from.getZeroPoint()),
                                   rewriter.getI64IntegerAttr(int64_t(merged.size()) - 1),
                                   rewriter.getI64IntegerAttr(shape.back()));
    y.getDefiningOp()->setDiscardableAttrs(from->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, y);
    return success();
  }
};

/// Drops the padding of the last block.
struct RaiseShortBlocks : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto from = op.getX().getDefiningOp<DequantizeOp>();
    if (!from || !from.getBlockSize() || !typeOf(from.getX()).hasStaticShape())
      return failure();
    const size_t axis = *from.getAxis();
    const int64_t block = int64_t(*from.getBlockSize());
    ArrayRef<int64_t> shape = shapeOf(from.getX()), sliced = shapeOf(op.getY());
    for (size_t d = 0; d < shape.size(); ++d) {
      if (op.getStart()[d] != 0 || op.getStride()[d] != 1 || (d != axis && sliced[d] != shape[d]))
        return failure();
    }
    if (llvm::divideCeil(sliced[axis], block) != llvm::divideCeil(shape[axis], block))
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    Value x = foldedConstant(rewriter,
                             b.make<SliceOp>(from.getX(), op.getStart(), sliced, op.getStride()));
    Value y = b.make<DequantizeOp>(x, from.getScale(), from.getZeroPoint(), from.getAxisAttr(),
                                   from.getBlockSizeAttr());
    y.getDefiningOp()->setDiscardableAttrs(from->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, y);
    return success();
  }
};

struct RaiseQuantizedPass : PassWrapper<RaiseQuantizedPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RaiseQuantizedPass)

  StringRef getArgument() const final { return "dlc-raise-quantized"; }
  StringRef getDescription() const final {
    return "casts, subtractions and multiplications that dequantize, as dlc.dequantize";
  }

  LogicalResult initialize(MLIRContext *context) final {
    RewritePatternSet set(context);
    set.add<RaiseDequantize, RaiseBlocks, RaiseShortBlocks>(context);
    patterns = FrozenRewritePatternSet(std::move(set));
    return success();
  }

  void runOnOperation() final { walkAndApplyPatterns(getOperation(), patterns); }

  FrozenRewritePatternSet patterns;
};

} // namespace

std::unique_ptr<Pass> createRaiseQuantizedPass() { return std::make_unique<RaiseQuantizedPass>(); }

} // namespace dlc
