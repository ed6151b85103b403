//===- Concats.cpp - simplifies users of concatenations -------------------===//
#include "ir/dlc/Shape.h"
#include "passes/TensorBuilder.h"
#include "passes/simplify/Patterns.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc {
namespace {

// slice(concat(a, b, ..)) -> slice(b) if the slice is within b
struct SliceOfConcat : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto concat = op.getX().getDefiningOp<ConcatOp>();
    if (!concat || !typeOf(op.getX()).hasStaticShape())
      return failure();
    int64_t axis = concat.getAxis(), before = 0;
    if (op.getSize()[axis] == 0)
      return failure();
    int64_t first = op.getStart()[axis];
    int64_t last = first + (op.getSize()[axis] - 1) * op.getStride()[axis];
    for (Value part : concat.getXs()) {
      int64_t size = shapeOf(part)[axis];
      if (ShapedType::isDynamic(size))
        return failure();
      if (std::min(first, last) >= before && std::max(first, last) < before + size) {
        SmallVector<int64_t> start(op.getStart());
        start[axis] -= before;
        rewriter.replaceOpWithNewOp<SliceOp>(op, part, start, op.getSize(), op.getStride());
        return success();
      }
      before += size;
    }
    return failure();
  }
};

// reshape(stack(a, b, ..)) -> concat(reshape(a), reshape(b), ..) if the reshape merges the new
// dimension with those after it. A kernel computes all operands of one concatenation in a single
// loop.
struct MergeStackReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto concat = op.getX().getDefiningOp<ConcatOp>();
    if (!concat || !concat.getY().hasOneUse() || !typeOf(op.getX()).hasStaticShape() ||
        !typeOf(op.getY()).hasStaticShape() || staticElements(typeOf(op.getY())) == 0)
      return failure();
    int64_t axis = concat.getAxis(), count = concat.getXs().size();
    ArrayRef<int64_t> from = shapeOf(op.getX()), to = shapeOf(op.getY());
    auto isUnit = [&](Value x) { return shapeOf(x)[axis] == 1; };
    if (!llvm::all_of(concat.getXs(), isUnit))
      return failure();
    int64_t outer = llvm::product_of(from.take_front(axis), int64_t(1)), merged = 0;
    while (outer > 1 && merged < int64_t(to.size()) && outer % to[merged] == 0)
      outer /= to[merged++];
    while (merged < int64_t(to.size()) && to[merged] == 1)
      ++merged;
    if (outer != 1 || merged == int64_t(to.size()) || to[merged] == count ||
        to[merged] % count != 0)
      return failure();
    SmallVector<int64_t> part(to);
    part[merged] /= count;
    TensorBuilder b(rewriter, op.getLoc());
    auto parts = llvm::map_to_vector(concat.getXs(), [&](Value x) { return b.reshape(x, part); });
    rewriter.replaceOpWithNewOp<ConcatOp>(op, op.getY().getType(), parts, merged);
    return success();
  }
};

/// Combines two partial results of a reduction of this kind.
Value combineReductions(TensorBuilder &b, ReduceKind kind, Value x, Value y) {
  if (kind == ReduceKind::sum)
    return b.make<AddOp>(x, y);
  return kind == ReduceKind::max ? b.make<MaxOp>(x, y) : b.make<MinOp>(x, y);
}

// reduce(op(concat(a, b, ..), y)) -> combineReductions(reduce(op(a, slice(y))), reduce(op(b,
// slice(y))), ..) if the reduction includes the concatenated dimension; op is elementwise or absent
struct SplitReduceOfConcat : OpRewritePattern<ReduceOp> {
  SplitReduceOfConcat(MLIRContext *context, Exactness exactness)
      : OpRewritePattern(context), exactness(exactness) {}
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    // Maximum number of concatenated operands, which limits the operands of the kernel that
    // combines the partial results.
    constexpr size_t most = 8;
    Operation *made = op.getX().getDefiningOp();
    if (!made || !op.getX().hasOneUse() || !typeOf(op.getX()).hasStaticShape())
      return failure();
    auto concat = dyn_cast<ConcatOp>(made);
    if (!concat && made->hasTrait<Elementwise>() && made->getNumResults() == 1)
      for (Value operand : made->getOperands())
        if (auto found = operand.getDefiningOp<ConcatOp>();
            found && found.getY().hasOneUse() && shapeOf(operand) == shapeOf(op.getX()))
          concat = found;
    if (!concat || concat.getXs().size() > most || !combines(op) ||
        !llvm::is_contained(op.getAxes(), int64_t(concat.getAxis())) ||
        !llvm::all_of(concat.getXs(), [](Value part) { return typeOf(part).hasStaticShape(); }))
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    int64_t offset = 0;
    Value all;
    for (Value part : concat.getXs()) {
      int64_t size = shapeOf(part)[concat.getAxis()];
      if (size == 0)
        continue;
      Value x = made == concat ? part : partOf(b, rewriter, made, concat, part, offset);
      Value reduced =
          b.make<ReduceOp>(op.getY().getType(), op.getKind(), x, op.getAxes(), op.getKeepdims());
      all = all ? combineReductions(b, op.getKind(), all, reduced) : reduced;
      offset += size;
    }
    if (!all)
      return failure();
    rewriter.replaceOp(op, all);
    return success();
  }

private:
  Exactness exactness;

  /// Returns whether the reduction can be computed from partial results of the concatenated
  /// operands. Partial sums in 16 bits would be rounded twice. At ties, partial maxima and minima
  /// would divide the gradient among operands and not among elements.
  bool combines(ReduceOp op) const {
    if (op.getKind() == ReduceKind::max || op.getKind() == ReduceKind::min)
      return exactness == Exactness::Values;
    return op.getKind() == ReduceKind::sum && typeOf(op.getX()).getElementTypeBitWidth() >= 32;
  }

  /// Clones the elementwise operation `made` for one operand (`part`) of the concatenation, with
  /// all other operands sliced accordingly.
  static Value partOf(TensorBuilder &b, RewriterBase &rewriter, Operation *made, ConcatOp concat,
                      Value part, int64_t offset) {
    RankedTensorType type = typeOf(made->getResult(0));
    IRMapping map;
    for (Value operand : made->getOperands()) {
      SmallVector<int64_t> size(shapeOf(operand)), start(size.size(), 0), stride(size.size(), 1);
      int64_t d = int64_t(concat.getAxis()) - (type.getRank() - int64_t(size.size()));
      if (operand == concat.getY()) {
        map.map(operand, part);
      } else if (d >= 0 && size[d] != 1) {
        start[d] = offset, size[d] = shapeOf(part)[concat.getAxis()];
        map.map(operand, b.make<SliceOp>(operand, start, size, stride));
      }
    }
    Operation *copy = rewriter.clone(*made, map);
    copy->getResult(0).setType(
        makeTensorType(shapeOf(part), type.getElementType(), deviceOf(type)));
    return copy->getResult(0);
  }
};

} // namespace

void addConcats(RewritePatternSet &patterns, Exactness exactness) {
  patterns.add<SliceOfConcat, MergeStackReshape>(patterns.getContext());
  patterns.add<SplitReduceOfConcat>(patterns.getContext(), exactness);
}

} // namespace dlc
