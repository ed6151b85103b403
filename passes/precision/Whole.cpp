//===- Whole.cpp - quantised values of 16 bits between operations in f32 ---===//
//
//   cast(cast(cast(y to ui16) to i32) - z to f32)  ->  y - z
//
// of whole numbers y that the 16 bits hold, and a whole number z. Where such are quantised again by
// the same scale and zero point, as files do around what only moves values, nothing changes:
//
//   round(y * s / s)  ->  y        (y - z) + z  ->  y        min(y, c)  ->  y, of y that are less
//
//===----------------------------------------------------------------------===//
#include "passes/precision/Whole.h"

#include "passes/TensorBuilder.h"
#include "passes/Widened.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace dlc::precision {
namespace {

using Range = std::pair<double, double>;

std::optional<double> wholeNumber(Value value) {
  auto number = splatValue(value);
  return number && std::trunc(*number) == *number ? number : std::nullopt;
}

bool isMovement(Operation *op) { return isa_and_nonnull<ReshapeOp, TransposeOp>(op); }

/// Between which numbers a value in f32 lies that is whole; nothing where it may not be.
std::optional<Range> wholeRange(Value value) {
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  Operation *op = value.getDefiningOp();
  if (isMovement(op))
    return wholeRange(op->getOperand(0));
  if (isa_and_nonnull<RoundOp>(op))
    return Range{-kEndless, kEndless};
  if (!isa_and_nonnull<AddOp, SubOp, MaxOp, MinOp, ReluOp>(op))
    return std::nullopt;
  auto x = wholeRange(op->getOperand(0));
  auto c = isa<ReluOp>(op) ? std::optional<double>(0) : wholeNumber(op->getOperand(1));
  if (!x || !c)
    return std::nullopt;
  auto [low, high] = *x;
  if (isa<MinOp>(op))
    return Range{std::min(low, *c), std::min(high, *c)};
  if (isa<MaxOp, ReluOp>(op))
    return Range{std::max(low, *c), std::max(high, *c)};
  double by = isa<AddOp>(op) ? *c : -*c;
  return Range{low + by, high + by};
}

bool holds(IntegerType type, Range range) {
  bool isUnsigned = type.isUnsigned();
  double size = std::ldexp(1.0, int(type.getWidth())), low = isUnsigned ? 0 : -size / 2;
  return range.first >= low && range.second < low + size;
}

bool isF32(Value value) { return typeOf(value).getElementType().isF32(); }

/// Puts the whole numbers themselves where f32 is made of the integers again.
void skip(Value integers, Value whole, OpBuilder &builder) {
  for (Operation *user : llvm::make_early_inc_range(integers.getUsers())) {
    builder.setInsertionPoint(user);
    TensorBuilder b(builder, user->getLoc());
    if (auto cast = dyn_cast<CastOp>(user)) {
      if (isF32(cast))
        cast.getResult().replaceAllUsesWith(whole);
      else if (isInt32(cast.getType()))
        skip(cast, whole, builder);
      continue;
    }
    auto sub = dyn_cast<SubOp>(user);
    constexpr double kExact = 1 << 20;
    auto zero = sub && sub.getA() == integers && isInt32(integers.getType()) &&
                        shapeOf(sub.getY()) == shapeOf(integers)
                    ? splatValue(sub.getB())
                    : std::nullopt;
    if (!zero || std::abs(*zero) > kExact)
      continue;
    skip(sub, b.make<SubOp>(whole, b.scalar(*zero, whole)), builder);
  }
}

bool isSame(Value a, Value c) {
  auto one = splatValue(a), other = splatValue(c);
  return a == c || (one && one == other);
}

/// A value, and how it is moved, from the last step backwards.
struct Moved {
  Value value;
  SmallVector<Operation *> steps;
};

/// What was scaled, or shifted, by the operand `by` and then moved, where it is whole, and small
/// enough that f32 holds what is made of it.
template <typename Op> std::optional<Moved> undone(Value value, Value by) {
  constexpr double kSmall = 1 << 20;
  Moved found;
  for (; isMovement(value.getDefiningOp()); value = value.getDefiningOp()->getOperand(0))
    found.steps.push_back(value.getDefiningOp());
  auto op = value.getDefiningOp<Op>();
  if (!op || !isSame(op.getB(), by) || shapeOf(op.getA()) != shapeOf(value))
    return std::nullopt;
  found.value = op.getA();
  auto range = wholeRange(found.value);
  bool isSmall = range && range->first >= -kSmall && range->second <= kSmall;
  return isSmall ? std::optional(std::move(found)) : std::nullopt;
}

/// What the operation has as its result without being done.
std::optional<Moved> unchanged(Operation *op) {
  constexpr double kTiny = 1e-30; // smaller scales may make numbers that are not normal
  if (auto round = dyn_cast<RoundOp>(op)) {
    auto div = round.getX().getDefiningOp<DivOp>();
    auto scale = div ? splatValue(div.getB()) : std::nullopt;
    return scale && std::abs(*scale) > kTiny && std::abs(*scale) < 1 / kTiny
               ? undone<MulOp>(div.getA(), div.getB())
               : std::nullopt;
  }
  if (auto add = dyn_cast<AddOp>(op))
    return wholeNumber(add.getB()) ? undone<SubOp>(add.getA(), add.getB()) : std::nullopt;
  if (!isa<MaxOp, MinOp, ReluOp>(op))
    return std::nullopt;
  auto from = wholeRange(op->getOperand(0)), to = wholeRange(op->getResult(0));
  return from && from == to ? std::optional(Moved{op->getOperand(0), {}}) : std::nullopt;
}

} // namespace

void keepWhole(ModuleOp module) {
  OpBuilder builder(module.getContext());
  SmallVector<CastOp> casts;
  module.walk([&](CastOp cast) {
    auto type = dyn_cast<IntegerType>(typeOf(cast).getElementType());
    auto range = type && type.getWidth() == 16 && isF32(cast.getX()) ? wholeRange(cast.getX())
                                                                     : std::optional<Range>();
    if (range && holds(type, *range))
      casts.push_back(cast);
  });
  for (CastOp cast : casts)
    skip(cast, cast.getX(), builder);
  if (casts.empty())
    return;
  module.walk([&](Operation *op) {
    bool may = op->getNumResults() == 1 && isF32(op->getResult(0));
    std::optional<Moved> whole = may ? unchanged(op) : std::nullopt;
    if (!whole)
      return;
    builder.setInsertionPoint(op);
    for (Operation *step : llvm::reverse(whole->steps)) {
      Operation *again = builder.clone(*step);
      again->setOperand(0, whole->value);
      whole->value = again->getResult(0);
    }
    op->getResult(0).replaceAllUsesWith(whole->value);
  });
}

} // namespace dlc::precision
