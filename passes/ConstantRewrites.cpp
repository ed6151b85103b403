//===- ConstantRewrites.cpp - numeric legality of rewrites that move constants ----===//
#include "passes/ConstantRewrites.h"

#include "ir/dlc/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;

namespace dlc {

bool requiresStrictAccuracy(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto level = op->getAttrOfType<StringAttr>(kAccuracyAttr))
      return level == "strict";
  return false;
}

void setAccuracy(Operation *to, StringRef level) {
  if (level == "strict")
    to->setAttr(kAccuracyAttr, StringAttr::get(to->getContext(), level));
}

void copyAccuracy(Operation *from, Operation *to) {
  while (Operation *parent = from->getParentOp())
    from = parent;
  if (auto level = from->getAttrOfType<StringAttr>(kAccuracyAttr))
    setAccuracy(to, level);
}

namespace {

/// Exponent range and precision of a floating-point type, and the limits for moving constants of
/// this type.
struct FloatLimits {
  int lowest, highest; ///< exponents of the normal numbers: 2^lowest to less than 2^highest
  int precision;       ///< number of bits of the significand
  /// Exponent limits that prevent overflow and underflow when a constant factor is moved. A factor
  /// from 2^-moved to 2^moved may be moved from the operands of a sum of products (a matmul or
  /// convolution) to its result. A factor from 2^-folded to 2^folded may be multiplied into the
  /// weights of such a sum.
  int moved, folded;
  int smallest; ///< weights of magnitude below 2^smallest may become subnormal or zero
};

FloatLimits getFloatLimits(FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  int lowest = APFloat::semanticsMinExponent(semantics),
      highest = APFloat::semanticsMaxExponent(semantics) + 1;
  return {.lowest = lowest,
          .highest = highest,
          .precision = int(type.getFPMantissaWidth()),
          .moved = std::min(12, highest / 4),
          .folded = highest / 2,
          .smallest = lowest + (highest - 16) / 4};
}

/// Returns whether the number is representable as a normal number of the type: no underflow to a
/// subnormal number or zero, and no overflow to infinity.
bool isNormalNumber(double number, const FloatLimits &limits) {
  double magnitude = std::fabs(number);
  return magnitude >= std::ldexp(1, limits.lowest) &&
         magnitude <= std::ldexp(2 - std::ldexp(1, 1 - limits.precision), limits.highest - 1);
}

bool isPowerOfTwo(double number) {
  int exponent;
  return std::fabs(std::frexp(number, &exponent)) == 0.5;
}

/// Returns whether the magnitude of the number is from 2^-exponent to 2^exponent.
bool isWithinExponent(double number, int exponent) {
  double magnitude = std::fabs(number);
  return magnitude >= std::ldexp(1, -exponent) && magnitude <= std::ldexp(1, exponent);
}

double multiplyFactors(ArrayRef<double> factors) {
  double product = 1;
  for (double factor : factors)
    product *= factor;
  return product;
}

/// Returns whether constant factors may be multiplied together. If all factors have magnitudes of
/// at least 1, or all of at most 1, an intermediate product overflows or underflows only if the
/// final result does. With mixed factors an intermediate result may leave the range of the type
/// although the final result is inside.
bool canMergeFactors(ArrayRef<double> factors, const FloatLimits &limits) {
  auto isNeutral = [](double c) { return std::fabs(c) == 1; };
  auto enlarges = [](double c) { return std::fabs(c) >= 1; };
  auto reduces = [](double c) { return std::fabs(c) <= 1; };
  if (llvm::count_if(factors, [&](double c) { return !isNeutral(c); }) <= 1)
    return llvm::all_of(factors, [](double c) { return std::isfinite(c); });
  if (!llvm::all_of(factors, enlarges) && !llvm::all_of(factors, reduces))
    return false;
  bool isZero = llvm::is_contained(factors, 0.0);
  return isZero || (isNormalNumber(multiplyFactors(factors), limits) &&
                    llvm::all_of(factors, [&](double c) { return isNormalNumber(c, limits); }));
}

/// Returns whether merging constant factors keeps all bits. Multiplying by a power of two of at
/// least 1 keeps all bits of a number. Multiplying by smaller factors may round at each step,
/// because the result may be subnormal.
bool canMergeFactorsExactly(ArrayRef<double> factors, const FloatLimits &limits) {
  return canMergeFactors(factors, limits) &&
         (llvm::count_if(factors, [](double c) { return std::fabs(c) != 1; }) <= 1 ||
          llvm::all_of(factors, [](double c) { return isPowerOfTwo(c) && std::fabs(c) >= 1; }));
}

/// Returns whether the weights of a sum of products may be multiplied by the factor without
/// overflow or underflow. Weights that are negligible compared with the largest weight may become
/// subnormal or zero.
bool canFoldFactor(double factor, ArrayRef<double> weights, const FloatLimits &limits) {
  if (factor == 0)
    return true;
  if (!isWithinExponent(factor, limits.folded))
    return false;
  double largest = 0;
  for (double weight : weights) {
    if (!std::isfinite(weight))
      return false;
    largest = std::max(largest, std::fabs(weight));
  }
  const double negligible =
      std::max(std::ldexp(largest, -limits.precision), std::ldexp(1, limits.smallest));
  double least = largest;
  for (double weight : weights)
    if (std::fabs(weight) > negligible)
      least = std::min(least, std::fabs(weight));
  return std::fabs(largest * factor) < std::ldexp(1, limits.highest - 1) &&
         (least <= negligible || isNormalNumber(least * factor, limits));
}

bool canDistributeFactor(double term, double factor, double magnitude, const FloatLimits &limits) {
  return term == 0 || (std::fabs(term) <= std::ldexp(magnitude, limits.precision / 2) &&
                       canFoldFactor(factor, {term}, limits));
}

} // namespace

bool hasExactReciprocal(double c, Type element) {
  auto type = dyn_cast<FloatType>(element);
  if (!type || c == 0 || !std::isfinite(c))
    return false;
  FloatLimits limits = getFloatLimits(type);
  return isPowerOfTwo(c) && isNormalNumber(c, limits) && isNormalNumber(1 / c, limits);
}

bool isRewriteAllowed(const ConstantRewrite &rewrite, Operation *op) {
  auto type = dyn_cast<FloatType>(rewrite.element);
  if (!type)
    return true;
  ArrayRef<double> c = rewrite.constants;
  FloatLimits limits = getFloatLimits(type);
  bool exact = requiresStrictAccuracy(op);
  using Kind = ConstantRewrite::Kind;
  switch (rewrite.kind) {
  case Kind::MergeFactors:
    return exact ? canMergeFactorsExactly(c, limits) : canMergeFactors(c, limits);
  case Kind::MergeScales:
    return !exact && isNormalNumber(multiplyFactors(c), limits);
  case Kind::MergeTerms:
    return c[0] == 0 || c[1] == 0;
  case Kind::MoveFactors:
    return !exact && isWithinExponent(multiplyFactors(c), limits.moved) &&
           llvm::all_of(c, [&](double factor) { return isWithinExponent(factor, limits.moved); });
  case Kind::FoldFactor:
    return exact ? c[0] == 1 : canFoldFactor(c[0], c.drop_front(), limits);
  case Kind::DistributeFactor:
    return exact ? c[0] == 0 || c[1] == 1 : canDistributeFactor(c[0], c[1], c[2], limits);
  case Kind::ReplaceDivision:
    return hasExactReciprocal(c[0], type) ||
           (!exact && isNormalNumber(c[0], limits) && isNormalNumber(1 / c[0], limits));
  case Kind::ChangeRounding:
    return !exact;
  }
  llvm_unreachable("kind of rewrite");
}

} // namespace dlc
