//===- ScaledBlocks.cpp - block-scaled weights of 8 bits or fewer ---------===//
#include "passes/ScaledBlocks.h"

using namespace mlir;

namespace dlc {

/// Whether the slice only drops trailing elements of each row.
static bool dropsPadding(SliceOp slice) {
  ArrayRef<int64_t> from = shapeOf(slice.getX()), to = shapeOf(slice.getY());
  auto all = [](ArrayRef<int64_t> values, int64_t value) {
    return llvm::all_of(values, [=](int64_t v) { return v == value; });
  };
  return from.size() == 2 && from[0] == to[0] && all(slice.getStart(), 0) &&
         all(slice.getStride(), 1);
}

/// Matches the dequantization of a matmul's right operand [n, k].
static std::optional<ScaledBlocks> matchScaledBlocks(Value value) {
  ScaledBlocks found;
  auto step = [&]<typename Op>(Op op) {
    if (op)
      found.ops.push_back(op);
    return op;
  };
  if (!typeOf(value).hasStaticShape() || typeOf(value).getRank() != 2 ||
      !typeOf(value).getElementType().isF32())
    return std::nullopt;
  found.k = shapeOf(value).back();
  if (auto slice = value.getDefiningOp<SliceOp>(); slice && dropsPadding(step(slice)))
    value = slice.getX();
  auto reshape = step(value.getDefiningOp<ReshapeOp>());
  auto mul = reshape ? step(reshape.getX().getDefiningOp<MulOp>()) : MulOp();
  if (!mul || typeOf(mul.getY()).getRank() != 3)
    return std::nullopt;
  found.scale = mul.getB();
  value = mul.getA();
  SmallVector<int64_t> each(shapeOf(mul.getY()));
  if (each[0] != shapeOf(reshape.getY())[0] || found.k <= (each[1] - 1) * each[2])
    return std::nullopt;
  if (auto sub = step(value.getDefiningOp<SubOp>())) {
    found.zero = sub.getB();
    value = sub.getA();
  }
  auto cast = step(value.getDefiningOp<CastOp>());
  if (!cast || !isInt8(cast.getX().getType()))
    return std::nullopt;
  found.numbers = cast.getX();
  constexpr int64_t kUnit = 16;
  bool fits = typeOf(found.numbers).getElementType().isSignlessInteger() &&
              shapeOf(found.numbers) == ArrayRef(each) && each[2] % kUnit == 0;
  each[2] = 1;
  for (Value beside : {found.scale, found.zero})
    fits &= !beside || shapeOf(beside) == ArrayRef(each);
  return fits ? std::optional(std::move(found)) : std::nullopt;
}

std::optional<ScaledBlocks> keptBlocksOf(Operation *op) {
  auto product = dyn_cast_or_null<MatmulOp>(op);
  return product && product->hasAttr(kBlocksAttr) ? matchScaledBlocks(product.getB())
                                                  : std::optional<ScaledBlocks>();
}

bool makesKeptBlocks(CastOp cast) {
  if (!isInt8(cast.getX().getType()))
    return false;
  Operation *op = cast;
  constexpr int kSteps = 5;
  for (int i = 0; i < kSteps && !op->use_empty(); ++i) {
    op = *op->getUsers().begin();
    if (auto blocks = keptBlocksOf(op))
      return llvm::is_contained(blocks->ops, cast);
    if (!isa<SubOp, MulOp, ReshapeOp, SliceOp>(op))
      return false;
  }
  return false;
}

} // namespace dlc
