//===- Combine.h - commutative operations of reductions, windows and scatters ---===//
#ifndef DLC_FRONTEND_MLIR_STABLEHLO_COMBINE_H
#define DLC_FRONTEND_MLIR_STABLEHLO_COMBINE_H

#include "frontend/mlir/stablehlo/Node.h"

#include <optional>

namespace dlc::stablehlo {

/// Associative and commutative operation of two elements.
enum class Combine { Add, Mul, Max, Min, BitAnd, BitOr, BitXor };

/// Returns the operation that a region of two arguments applies to them; nothing for other regions.
std::optional<Combine> combineOf(Region &region);

/// Checks that a region only compares its arguments and selects from them, NaN and 0, so that its
/// results depend on the order of the arguments alone.
bool onlyCompares(Region &region);

/// Applies the operation. On bools, add and max are `or`, mul and min are `and`.
Value combine(Build &b, Combine kind, Value x, Value y);
/// Returns the identity element as a scalar.
Value identityOf(Build &b, Combine kind, Type element);
/// Returns whether all elements of a tensor are known to be the identity element.
bool isIdentity(Build &b, Combine kind, Value x);
/// Reduces dimensions, without initial value.
Value reduceDims(Build &b, Combine kind, Value x, ArrayRef<int64_t> axes);
/// Returns the reduce operation of dlc; nothing for bitwise operations.
std::optional<ReduceKind> reduceKindOf(Combine kind);

} // namespace dlc::stablehlo

#endif // DLC_FRONTEND_MLIR_STABLEHLO_COMBINE_H
