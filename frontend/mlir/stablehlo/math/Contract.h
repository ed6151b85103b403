//===- Contract.h - operands of contractions and convolutions ---------------------------===//
#ifndef DLC_FRONTEND_MLIR_STABLEHLO_MATH_CONTRACT_H
#define DLC_FRONTEND_MLIR_STABLEHLO_MATH_CONTRACT_H

#include "frontend/mlir/stablehlo/Node.h"

namespace dlc::stablehlo {

/// Casts the operands of a contraction so that sums have the result's element type. Does not cast
/// 8-bit integers if the result is i32, because dlc has contractions from 8-bit integers to i32.
void widenOperands(Build &b, Value &lhs, Value &rhs, Type result);

} // namespace dlc::stablehlo

#endif // DLC_FRONTEND_MLIR_STABLEHLO_MATH_CONTRACT_H
