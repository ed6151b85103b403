//===- Whole.cpp - quantised values of 16 bits between operations in f32 ---===//
//
//   cast(cast(cast(y to ui16) to i32) - z to f32)  ->  y - z
//
// of whole numbers y that the 16 bits hold, and a whole number z.
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

/// Between which numbers a value in f32 lies that is whole; nothing where it may not be.
std::optional<Range> wholeRange(Value value) {
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  Operation *op = value.getDefiningOp();
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
    skip(sub, b.make<SubOp>(whole, b.cast(sub.getB(), builder.getF32Type())), builder);
  }
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
}

} // namespace dlc::precision
