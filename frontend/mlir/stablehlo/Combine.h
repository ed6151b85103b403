//===- Combine.h - commutative operations of reductions, windows and scatters ---===//
#ifndef DLC_FRONTEND_MLIR_STABLEHLO_COMBINE_H
#define DLC_FRONTEND_MLIR_STABLEHLO_COMBINE_H

#include "frontend/mlir/stablehlo/Node.h"

#include <optional>

namespace dlc::stablehlo {

/// Associative and commutative operation on two elements, which a reduction or scatter applies.
enum class CombineKind { Add, Mul, Max, Min, BitAnd, BitOr, BitXor };

/// Returns the operation that a region applies to its two arguments. Returns nothing if the region
/// contains anything else.
std::optional<CombineKind> matchCombineKind(Region &region);

/// Returns whether a region only compares its arguments and selects among its arguments, NaN and 0.
/// Its results then depend only on the relative order of the arguments.
bool hasOnlyComparisons(Region &region);

/// Applies the operation to x and y. On bools, add and max are a logical `or`, and mul and min a
/// logical `and`.
Value buildCombine(Build &b, CombineKind kind, Value x, Value y);
/// Returns the identity element of the operation as a scalar.
Value buildIdentity(Build &b, CombineKind kind, Type element);
/// Returns whether x is a constant whose elements are all the identity element of the operation.
bool isIdentityElement(Build &b, CombineKind kind, Value x);
/// Reduces dimensions of x by the operation, without an initial value.
Value reduceDims(Build &b, CombineKind kind, Value x, ArrayRef<int64_t> axes);
/// Returns the kind of dlc.reduce for the operation; nothing for a bitwise operation, which
/// dlc.reduce does not support.
std::optional<ReduceKind> toReduceKind(CombineKind kind);

} // namespace dlc::stablehlo

#endif // DLC_FRONTEND_MLIR_STABLEHLO_COMBINE_H
