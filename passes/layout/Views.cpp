//===- Views.cpp - transpositions that become views by a layout -----------===//
#include "passes/layout/Views.h"

#include "ir/dlc/Shape.h"
#include "passes/Dimensions.h"
#include "passes/layout/Alternatives.h"
#include "passes/layout/Tag.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc {
namespace {

RankedTensorType permuteType(RankedTensorType type, ArrayRef<int64_t> permutation) {
  return makeTensorType(permuteBroadcastShape(staticShape(type), permutation),
                        type.getElementType(), deviceOf(type));
}

/// Returns the TransposedViewOp that defines the value, if it is a view of a row-major tensor,
/// otherwise null.
TransposedViewOp matchRowMajorView(Value value) {
  auto view = value.getDefiningOp<TransposedViewOp>();
  return view && layoutOf(view.getX().getType()).empty() ? view : TransposedViewOp();
}

/// Matches an elementwise operation whose full-size operands are views of row-major tensors, or
/// values that are stored in memory in any case, and moves it to the row-major tensors.
class SinkViewsPattern {
public:
  explicit SinkViewsPattern(Operation *op) : op(op), type(typeOf(op->getResult(0))) {}

  bool matches() {
    for (Value operand : op->getOperands()) {
      if (shapeOf(operand) != staticShape(type)) {
        if (llvm::count_if(shapeOf(operand), [](int64_t d) { return d != 1; }) > 1)
          return false;
        continue;
      }
      TransposedViewOp view = matchRowMajorView(operand);
      if (view && (permutation.empty() || permutation == view.getPermutation()))
        permutation = view.getPermutation();
      // A view requires that the value is stored in memory. A value with a single user may be fused
      // with its producer and never be stored, so that the rewrite is not possible.
      else if (view || (operand.getDefiningOp() && operand.hasOneUse()))
        return false;
    }
    return !permutation.empty();
  }

  void rewrite() {
    AlternativeBuilder b(op);
    SmallVector<int64_t> inverse = invertPermutation(permutation);
    IRMapping mapping;
    for (Value operand : op->getOperands())
      if (Value plain = plainOf(operand, inverse, b))
        mapping.map(operand, plain);
    Operation *inner = b.builder.clone(*op, mapping);
    inner->getResult(0).setType(permuteType(type, inverse));
    op->getResult(0).replaceAllUsesWith(
        b.make<TransposedViewOp>(type, inner->getResult(0), permutation));
    op->erase();
  }

private:
  /// Returns the operand of the rewritten operation for `operand`, or null if the original operand
  /// is used.
  Value plainOf(Value operand, ArrayRef<int64_t> inverse, AlternativeBuilder &b) {
    ArrayRef<int64_t> own = shapeOf(operand);
    if (own == staticShape(type)) {
      if (TransposedViewOp view = matchRowMajorView(operand))
        return view.getX();
      return b.make<TransposedViewOp>(permuteType(typeOf(operand), inverse), operand, inverse);
    }
    if (llvm::all_of(own, [](int64_t d) { return d == 1; }))
      return {};
    return b.reshape(operand, permuteBroadcastShape(own, inverse));
  }

  Operation *op;
  RankedTensorType type;
  ArrayRef<int64_t> permutation;
};

/// Transposition of an image that moves no data (is a view) if the image has one of the candidate
/// layouts. If the image is reshaped before the transposition, the transposition is moved before
/// the reshape.
struct ImageTranspose {
  Value image;
  SmallVector<int64_t> permutation;

  /// Matches a transposition of an image, or of a reshape that merges the dimensions of an image.
  /// Returns nullopt if no layout in `tags` makes the transposition of the image a view.
  static std::optional<ImageTranspose> find(Value merged, ArrayRef<int64_t> permutation,
                                            ArrayRef<std::string> tags, int64_t rank) {
    ImageTranspose found{merged, SmallVector<int64_t>(permutation)};
    if (auto reshape = merged.getDefiningOp<ReshapeOp>();
        reshape && merged.hasOneUse() && typeOf(merged).getRank() < rank) {
      if (!typeOf(reshape.getX()).hasStaticShape() || !typeOf(merged).hasStaticShape())
        return std::nullopt;
      auto groups = splitGroups(shapeOf(merged), shapeOf(reshape.getX()));
      if (!groups)
        return std::nullopt;
      found.image = reshape.getX();
      found.permutation.clear();
      for (int64_t d : permutation)
        llvm::append_range(found.permutation, (*groups)[d]);
    }
    RankedTensorType type = typeOf(found.image);
    bool isView = type.getRank() == rank && llvm::any_of(tags, [&](StringRef tag) {
                    return preservesMemoryOrder(withLayout(type, tag), found.permutation,
                                                permuteType(type, found.permutation));
                  });
    return isView ? std::optional(found) : std::nullopt;
  }

  TransposeOp make(OpBuilder &builder, Location loc) {
    return TransposeOp::create(builder, loc, image, permutation);
  }
};

} // namespace

/// Returns whether the value is the result of a convolution, directly or through elementwise
/// operations.
static bool isConvResult(Value value) {
  constexpr int kFar = 8;
  for (int step = 0; step < kFar; ++step) {
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<ConvOp, ConvTransposeOp>(op))
      return true;
    if (!op || !op->hasTrait<Elementwise>())
      return false;
    auto full = llvm::find_if(op->getOperands(),
                              [&](Value operand) { return shapeOf(operand) == shapeOf(value); });
    if (full == op->operand_end())
      return false;
    value = *full;
  }
  return false;
}

/// Returns the reshape of an image (rank `rank`) that can be moved below the elementwise operation
/// `op`, because it is the only operand of `op` that has full size and is not constant. Null if
/// there is none.
static ReshapeOp findMergingReshape(Operation *op, int64_t rank) {
  if (!op->hasTrait<Elementwise>() || op->getNumResults() != 1 ||
      !typeOf(op->getResult(0)).hasStaticShape())
    return {};
  ReshapeOp found;
  for (Value operand : op->getOperands()) {
    if (shapeOf(operand) != shapeOf(op->getResult(0)) || operand.getDefiningOp<ConstantOp>())
      continue;
    auto reshape = operand.getDefiningOp<ReshapeOp>();
    if (found || !reshape || !operand.hasOneUse() || typeOf(operand).getRank() >= rank ||
        typeOf(reshape.getX()).getRank() != rank || !isConvResult(reshape.getX()))
      return {};
    found = reshape;
  }
  return found;
}

void sinkImageReshapes(Block &block, int64_t rank) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    ReshapeOp reshape = findMergingReshape(&op, rank);
    auto groups =
        reshape ? splitGroups(shapeOf(reshape.getY()), shapeOf(reshape.getX())) : std::nullopt;
    if (!groups)
      continue;
    ArrayRef<int64_t> image = shapeOf(reshape.getX()), merged = shapeOf(reshape.getY());
    AlternativeBuilder b(&op);
    IRMapping mapping;
    for (Value operand : op.getOperands()) {
      if (operand == reshape.getY()) {
        mapping.map(operand, reshape.getX());
        continue;
      }
      SmallVector<int64_t> own(merged.size() - shapeOf(operand).size(), 1), split;
      llvm::append_range(own, shapeOf(operand));
      for (auto [size, group] : llvm::zip(own, *groups))
        for (int64_t d : group)
          split.push_back(size == 1 ? 1 : image[d]);
      if (!shapeOf(operand).empty())
        mapping.map(operand, b.reshape(operand, split));
    }
    Operation *inner = b.builder.clone(op, mapping);
    RankedTensorType type = typeOf(op.getResult(0));
    inner->getResult(0).setType(makeTensorType(image, type.getElementType(), type.getEncoding()));
    op.getResult(0).replaceAllUsesWith(b.reshape(inner->getResult(0), merged));
    op.erase();
    reshape.erase();
  }
}

void hoistImageTransposes(Block &block, ArrayRef<std::string> tags, int64_t rank) {
  for (TransposeOp op : llvm::make_early_inc_range(block.getOps<TransposeOp>())) {
    auto reshape = op.getX().getDefiningOp<ReshapeOp>();
    auto found =
        reshape ? ImageTranspose::find(op.getX(), op.getPermutation(), tags, rank) : std::nullopt;
    if (!found || found->image == op.getX())
      continue;
    OpBuilder builder(op);
    Value transposed = found->make(builder, op.getLoc()).getY();
    op.getY().replaceAllUsesWith(
        TensorBuilder(builder, op.getLoc()).reshape(transposed, shapeOf(op.getY())));
    op.erase();
    reshape.erase();
  }
}

SmallVector<TransposedMatmul> transposeMatmuls(Block &block, ArrayRef<std::string> tags,
                                               int64_t rank) {
  SmallVector<TransposedMatmul> result;
  for (MatmulOp op : block.getOps<MatmulOp>()) {
    ArrayRef<int64_t> shape = shapeOf(op.getA());
    if (!op.getTransposeA() || shape.size() < 2 || !typeOf(op.getA()).hasStaticShape())
      continue;
    SmallVector<int64_t> swap(llvm::seq<int64_t>(0, shape.size()).begin(),
                              llvm::seq<int64_t>(0, shape.size()).end());
    std::swap(swap.back(), swap[swap.size() - 2]);
    auto found = ImageTranspose::find(op.getA(), swap, tags, rank);
    if (!found)
      continue;
    OpBuilder builder(op);
    TransposeOp transposed = found->make(builder, op.getLoc());
    result.push_back({op, transposed, op.getA()});
    op.getAMutable().assign(TensorBuilder(builder, op.getLoc())
                                .reshape(transposed.getY(), permuteBroadcastShape(shape, swap)));
    op.setTransposeA(false);
  }
  return result;
}

void undoTransposes(TransposedMatmul &transposed) {
  Operation *reshape = transposed.product.getA().getDefiningOp();
  transposed.product.getAMutable().assign(transposed.before);
  transposed.product.setTransposeA(true);
  if (reshape != transposed.transpose)
    reshape->erase();
  transposed.transpose.erase();
}

void replaceByView(TransposeOp op, Type result) {
  OpBuilder builder(op);
  op.getY().replaceAllUsesWith(
      TransposedViewOp::create(builder, op.getLoc(), result, op.getX(), op.getPermutation()));
  op.erase();
}

void sinkViews(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!op.hasTrait<Elementwise>() || op.getNumResults() != 1 ||
        layoutOf(op.getResult(0).getType()).empty())
      continue;
    SinkViewsPattern sunk(&op);
    if (sunk.matches())
      sunk.rewrite();
  }
  for (TransposedViewOp view : llvm::make_early_inc_range(block.getOps<TransposedViewOp>()))
    if (view.getY().use_empty())
      view.erase();
}

} // namespace dlc
