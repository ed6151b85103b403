//===- Combine.cpp - commutative operations of reductions, windows and scatters -===//
#include "frontend/mlir/stablehlo/Combine.h"

#include "llvm/ADT/StringSwitch.h"

#include <limits>

using namespace mlir;

namespace dlc::stablehlo {
namespace {

/// Returns the logical operation that equals `kind` on bools: `or` for add and max, `and` for mul
/// and min.
CombineKind toBoolKind(CombineKind kind) {
  switch (kind) {
  case CombineKind::Add:
  case CombineKind::Max:
    return CombineKind::BitOr;
  case CombineKind::Mul:
  case CombineKind::Min:
    return CombineKind::BitAnd;
  default:
    return kind;
  }
}

/// Reduces one dimension in about log2(size) steps, each of which combines the two halves of the
/// dimension.
Value reduceInHalves(Build &b, CombineKind kind, Value x, int64_t axis) {
  while (b.ok() && b.dim(x, axis) > 1) {
    const int64_t size = b.dim(x, axis), half = size / 2;
    Value left = b.sliceAxis(x, axis, 0, half), right = b.sliceAxis(x, axis, half, half);
    Value both = buildCombine(b, kind, left, right);
    x = size % 2 ? b.concat({both, b.sliceAxis(x, axis, size - 1, 1)}, axis) : both;
  }
  return x;
}

} // namespace

std::optional<CombineKind> matchCombineKind(Region &region) {
  Block &block = region.front();
  if (block.getNumArguments() != 2 || !llvm::hasNItems(block, 2))
    return std::nullopt;
  Operation &op = block.front(), &end = block.back();
  auto isArgument = [&](unsigned i, unsigned j) {
    return op.getOperand(i) == block.getArgument(j);
  };
  bool applies = op.getNumOperands() == 2 && op.getNumResults() == 1 && end.getNumOperands() == 1 &&
                 end.getOperand(0) == op.getResult(0) &&
                 ((isArgument(0, 0) && isArgument(1, 1)) || (isArgument(0, 1) && isArgument(1, 0)));
  if (!applies)
    return std::nullopt;
  return llvm::StringSwitch<std::optional<CombineKind>>(op.getName().getStringRef())
      .Case("stablehlo.add", CombineKind::Add)
      .Case("stablehlo.multiply", CombineKind::Mul)
      .Case("stablehlo.maximum", CombineKind::Max)
      .Case("stablehlo.minimum", CombineKind::Min)
      .Case("stablehlo.and", CombineKind::BitAnd)
      .Case("stablehlo.or", CombineKind::BitOr)
      .Case("stablehlo.xor", CombineKind::BitXor)
      .Default(std::nullopt);
}

bool hasOnlyComparisons(Region &region) {
  return llvm::all_of(region.front().without_terminator(), [](Operation &op) {
    if (op.getName().getStringRef() == "stablehlo.constant") {
      auto value = op.getAttrOfType<DenseElementsAttr>("value");
      if (!value || !value.isSplat())
        return false;
      if (!isa<FloatType>(value.getElementType()))
        return value.getElementType().isInteger(1) || value.getSplatValue<APInt>().isZero();
      auto number = value.getSplatValue<APFloat>();
      return number.isZero() || number.isNaN();
    }
    return llvm::StringSwitch<bool>(op.getName().getStringRef())
        .Cases({"stablehlo.compare", "stablehlo.select", "stablehlo.and", "stablehlo.or",
                "stablehlo.xor", "stablehlo.not"},
               op.getNumOperands() > 0 && op.getNumRegions() == 0)
        .Default(false);
  });
}

Value buildCombine(Build &b, CombineKind kind, Value x, Value y) {
  switch (b.isBool(x) ? toBoolKind(kind) : kind) {
  case CombineKind::Add:
    return b.add(x, y);
  case CombineKind::Mul:
    return b.mul(x, y);
  case CombineKind::Max:
    return b.max(x, y);
  case CombineKind::Min:
    return b.min(x, y);
  case CombineKind::BitAnd:
    return b.both(x, y);
  case CombineKind::BitOr:
    return b.either(x, y);
  case CombineKind::BitXor:
    return b.op<XorOp>({x, y});
  }
  return {};
}

/// Returns the lowest or the highest value of an element type as a scalar.
static Value extremeValue(Build &b, Type element, bool isLowest) {
  if (isa<FloatType>(element)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return b.scalar(element, isLowest ? -infinity : infinity);
  }
  const unsigned width = element.getIntOrFloatBitWidth();
  const bool isUnsigned = element.isUnsignedInteger() || width == 1;
  APInt value = isLowest
                    ? (isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width))
                    : (isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width));
  return b.scalarInt(element, isUnsigned ? int64_t(value.getZExtValue()) : value.getSExtValue());
}

Value buildIdentity(Build &b, CombineKind kind, Type element) {
  switch (element.isInteger(1) ? toBoolKind(kind) : kind) {
  case CombineKind::Add:
  case CombineKind::BitOr:
  case CombineKind::BitXor:
    return b.scalarInt(element, 0);
  case CombineKind::Mul:
    return b.scalarInt(element, 1);
  case CombineKind::BitAnd:
    return b.scalarInt(element, element.isInteger(1) ? 1 : -1);
  case CombineKind::Max:
    return extremeValue(b, element, true);
  case CombineKind::Min:
    return extremeValue(b, element, false);
  }
  return {};
}

bool isIdentityElement(Build &b, CombineKind kind, Value x) {
  while (auto broadcast = x.getDefiningOp<BroadcastOp>())
    x = broadcast.getX();
  auto found = b.known(x), wanted = b.known(buildIdentity(b, kind, b.elem(x)));
  if (!found || !wanted || found->size() == 0)
    return false;
  for (int64_t i = 0; i < found->size(); ++i)
    if (found->isFloat() ? found->getDouble(i) != wanted->getDouble(0)
                         : found->getInt(i) != wanted->getInt(0))
      return false;
  return true;
}

std::optional<ReduceKind> toReduceKind(CombineKind kind) {
  switch (kind) {
  case CombineKind::Add:
    return ReduceKind::sum;
  case CombineKind::Mul:
    return ReduceKind::prod;
  case CombineKind::Max:
    return ReduceKind::max;
  case CombineKind::Min:
    return ReduceKind::min;
  default:
    return std::nullopt;
  }
}

Value reduceDims(Build &b, CombineKind kind, Value x, ArrayRef<int64_t> axes) {
  if (b.isBool(x) && toBoolKind(kind) != CombineKind::BitXor) {
    // Bools are reduced as i32: `or` as a maximum, and `and` as a minimum.
    ReduceKind reduced = toBoolKind(kind) == CombineKind::BitOr ? ReduceKind::max : ReduceKind::min;
    return b.cast(b.reduce(reduced, b.cast(x, b.i32), axes, false), b.i1);
  }
  if (auto reduced = toReduceKind(kind))
    return b.reduce(*reduced, x, axes, false);
  Dims shape;
  for (int64_t axis : axes)
    x = reduceInHalves(b, kind, x, axis);
  for (int64_t d = 0; d < b.rank(x); ++d)
    if (!llvm::is_contained(axes, d))
      shape.push_back(b.dim(x, d));
  return b.reshape(x, shape);
}

} // namespace dlc::stablehlo
