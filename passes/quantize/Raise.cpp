//===- Raise.cpp - quantized arithmetic that a model spells out -----------===//
//
//   ((x in i32) - z in s's type) * s   ->  dequantize x, s, z
//   ((x in s's type) - z) * s          ->  dequantize x, s, z
//   ((x in i32) - z) . (w in i32)      ->  x . w a_zero_point z, a matmul or convolution in i32
//
//   reshape to [.., b d](dequantize x [.., b, d], s [.., b, 1])  ->  dequantize x', s' block_size d
//   slice of rows' first elements(dequantize x, s block_size d)  ->  dequantize x', s block_size d
//
// for integers x of 4 to 16 bits (4 or 8 in a contraction). The subtraction is optional. Exporters
// without an operation for dequantization and PyTorch's decomposed operators write this form. No
// other pass matches it.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/Contraction.h"
#include "ir/dlc/Infer.h"
#include "ir/tensor/Tensor.h"
#include "passes/Passes.h"
#include "passes/TensorBuilder.h"
#include "passes/quantize/IntegerOperands.h"
#include "passes/simplify/Constants.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace dlc {
namespace {

/// Returns the width of a signed, unsigned or signless integer type, or 0 for other types.
unsigned getIntegerWidth(Value value) {
  auto type = dyn_cast<IntegerType>(typeOf(value).getElementType());
  return type ? type.getWidth() : 0;
}

bool isQuantized(Value value) {
  return getIntegerWidth(value) >= 4 && getIntegerWidth(value) <= 16;
}

struct ZeroPointDifference {
  Value x, zeroPoint; ///< zeroPoint is null for 0
};

/// Matches x, or x minus a zero point, in a signed integer type that is wide enough for every
/// difference.
std::optional<ZeroPointDifference> matchIntegerDifference(Value value) {
  ZeroPointDifference found;
  if (auto sub = value.getDefiningOp<SubOp>()) {
    if (shapeOf(sub.getA()) != shapeOf(value))
      return std::nullopt;
    found.zeroPoint = sub.getB();
    value = sub.getA();
  }
  auto cast = value.getDefiningOp<CastOp>();
  if (!cast || !isQuantized(cast.getX()) ||
      getIntegerWidth(value) < getIntegerWidth(cast.getX()) + 2 ||
      typeOf(value).getElementType().isUnsignedInteger())
    return std::nullopt;
  found.x = cast.getX();
  return found;
}

/// Matches (x - zero point) in a float type, where the difference is computed either in integers or
/// in the float type.
std::optional<ZeroPointDifference> matchZeroPointDifference(Value value) {
  Value zeroPoint;
  if (auto sub = value.getDefiningOp<SubOp>()) {
    if (shapeOf(sub.getA()) != shapeOf(value))
      return std::nullopt;
    zeroPoint = sub.getB();
    value = sub.getA();
  }
  auto cast = value.getDefiningOp<CastOp>();
  if (!cast || getIntegerWidth(cast.getX()) == 0)
    return std::nullopt;
  auto found = matchIntegerDifference(cast.getX());
  if (found && !(zeroPoint && found->zeroPoint)) {
    if (zeroPoint)
      found->zeroPoint = zeroPoint;
    return found;
  }
  return isQuantized(cast.getX()) ? std::optional(ZeroPointDifference{cast.getX(), zeroPoint})
                                  : std::nullopt;
}

/// Reshapes a scale or zero point to a rank that dlc.dequantize supports: 0, or the rank of the
/// quantized tensor.
Value reshapeToRank(OpBuilder &builder, Value value, int64_t rank) {
  if (!value)
    return value;
  SmallVector<int64_t> shape;
  if (typeOf(value).getNumElements() != 1) {
    shape.assign(rank - typeOf(value).getRank(), 1);
    llvm::append_range(shape, shapeOf(value));
  }
  if (shapeOf(value) == ArrayRef(shape))
    return value;
  return foldToConstant(builder, TensorBuilder(builder, value.getLoc()).reshape(value, shape));
}

/// Returns the zero point in a type that dlc.dequantize supports: x's type, i32, or the scale's
/// type.
Value convertZeroPoint(TensorBuilder &b, const ZeroPointDifference &from, Type scale) {
  Value zero = from.zeroPoint;
  if (!zero)
    return zero;
  const bool isFloat = typeOf(zero).getElementType() == scale;
  // A zero point in a 16-bit float type keeps its type, because 16-bit floats do not represent
  // every difference of integers exactly.
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
      auto found = matchZeroPointDifference(value);
      if (!found || (found->zeroPoint && !typeOf(found->zeroPoint).hasStaticShape()))
        continue;
      TensorBuilder b(rewriter, op.getLoc());
      const int64_t rank = typeOf(found->x).getRank();
      Value zero = convertZeroPoint(b, *found, typeOf(scale).getElementType());
      Value y =
          b.make<DequantizeOp>(found->x, reshapeToRank(rewriter, scale, rank),
                               reshapeToRank(rewriter, zero, rank), IntegerAttr(), IntegerAttr());
      y.getDefiningOp()->setDiscardableAttrs(op->getDiscardableAttrDictionary());
      rewriter.replaceOp(op, y);
      return success();
    }
    return failure();
  }
};

/// Operand of an integer contraction that consists of 4- or 8-bit integers, perhaps after view
/// operations.
struct NarrowOperand {
  ZeroPointDifference integers;        ///< integers of 4 or 8 bits
  std::optional<ref::Tensor> constant; ///< i8 constant, instead of `integers`
  RankedTensorType constantType;
  SmallVector<Operation *> views;      ///< views of the integers, in reverse program order
  SmallVector<int64_t> zeroPointShape; ///< shape that the contraction needs
};

/// Sets the shape in which the contraction supports the zero point of operand `i`: rank 0, one
/// element per row or column of a matmul, or [output channels]. Returns false if there is no such
/// shape.
bool matchZeroPointShape(Operation *contraction, unsigned i, NarrowOperand &operand) {
  ArrayRef<int64_t> shape = shapeOf(contraction->getOperand(i)),
                    own = shapeOf(operand.integers.zeroPoint);
  if (typeOf(operand.integers.zeroPoint).getNumElements() == 1)
    return true;
  if (own.size() != shape.size() || !operand.views.empty())
    return false;
  if (auto product = dyn_cast<MatmulOp>(contraction)) {
    const bool isLast = i == 0 ? !product.getTransposeA() : product.getTransposeB();
    operand.zeroPointShape.assign(own.begin(), own.end());
    return own[own.size() - (isLast ? 1 : 2)] == 1;
  }
  operand.zeroPointShape = {own[0]};
  return i == 1 && typeOf(operand.integers.zeroPoint).getNumElements() == own[0];
}

/// Matches view operations on 4- or 8-bit integers that are cast to i32, minus a zero point, or on
/// i32 constants in the range of i8. Returns nullopt for other operands.
std::optional<NarrowOperand> matchNarrowOperand(Operation *contraction, unsigned i) {
  NarrowOperand found;
  Value value = contraction->getOperand(i);
  Operation *op = value.getDefiningOp();
  for (; op && op->hasTrait<ViewLike>() && op->getNumOperands() == 1; op = value.getDefiningOp()) {
    found.views.push_back(op);
    value = op->getOperand(0);
  }
  if (auto constant = constantTensor(value)) {
    found.constant =
        constant->getElementType().isInteger(32) ? quantize::narrowToInt8(*constant) : std::nullopt;
    found.constantType = typeOf(value).clone(IntegerType::get(value.getContext(), 8));
    return found.constant ? std::optional(found) : std::nullopt;
  }
  auto integers = matchIntegerDifference(value);
  if (!integers || !isNarrowInteger(typeOf(integers->x).getElementType()) ||
      (!found.views.empty() && ref::isPackedElement(typeOf(integers->x).getElementType())))
    return std::nullopt;
  found.integers = *integers;
  Value &zero = found.integers.zeroPoint;
  if (zero && (!typeOf(zero).hasStaticShape() || !matchZeroPointShape(contraction, i, found)))
    return std::nullopt;
  if (auto cast = zero ? zero.getDefiningOp<CastOp>() : CastOp();
      cast && typeOf(cast.getX()).getElementType() == typeOf(integers->x).getElementType())
    zero = cast.getX();
  return found;
}

/// Applies the view operations of an operand to its integers, and returns the result with the
/// operand's zero point.
ZeroPointDifference applyViews(OpBuilder &builder, Location loc, const NarrowOperand &operand) {
  ZeroPointDifference made = operand.integers;
  if (operand.constant)
    made.x = makeConstant(builder, loc, *operand.constant, operand.constantType);
  for (Operation *view : llvm::reverse(operand.views)) {
    Operation *copy = builder.clone(*view);
    copy->setOperand(0, made.x);
    copy->getResult(0).setType(typeOf(view->getResult(0)).clone(typeOf(made.x).getElementType()));
    made.x = copy->getResult(0);
  }
  if (made.zeroPoint)
    made.zeroPoint = TensorBuilder(builder, loc).reshape(made.zeroPoint, operand.zeroPointShape);
  return made;
}

template <typename Op> struct RaiseContraction : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!typeOf(op->getOperand(0)).getElementType().isInteger(32))
      return failure();
    auto left = matchNarrowOperand(op, 0);
    auto right = left ? matchNarrowOperand(op, 1) : std::nullopt;
    if (!right || (left->constant && right->constant))
      return failure();
    ZeroPointDifference a = applyViews(rewriter, op.getLoc(), *left),
                        b = applyViews(rewriter, op.getLoc(), *right);
    rewriter.modifyOpInPlace(op, [&] {
      op->setOperand(0, a.x);
      op->setOperand(1, b.x);
      setZeroPoints(op, a.zeroPoint, b.zeroPoint);
    });
    return success();
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
                 ? foldToConstant(rewriter, b.reshape(each, shapeOf(each).drop_back()))
                 : each;
    };
    Value y = b.make<DequantizeOp>(foldToConstant(rewriter, b.reshape(from.getX(), merged)),
                                   perBlock(from.getScale()), perBlock(from.getZeroPoint()),
                                   rewriter.getI64IntegerAttr(int64_t(merged.size()) - 1),
                                   rewriter.getI64IntegerAttr(shape.back()));
    y.getDefiningOp()->setDiscardableAttrs(from->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, y);
    return success();
  }
};

/// slice(dequantize(x)) -> dequantize(slice(x)), if the slice removes only padding of the last
/// block
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
    Value x = foldToConstant(rewriter,
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
    return "casts and arithmetic that dequantize as dlc.dequantize; contractions of 8-bit integers";
  }

  LogicalResult initialize(MLIRContext *context) final {
    RewritePatternSet set(context);
    set.add<RaiseDequantize, RaiseBlocks, RaiseShortBlocks, RaiseContraction<MatmulOp>,
            RaiseContraction<ConvOp>>(context);
    patterns = FrozenRewritePatternSet(std::move(set));
    return success();
  }

  void runOnOperation() final { walkAndApplyPatterns(getOperation(), patterns); }

  FrozenRewritePatternSet patterns;
};

} // namespace

std::unique_ptr<Pass> createRaiseQuantizedPass() { return std::make_unique<RaiseQuantizedPass>(); }

} // namespace dlc
