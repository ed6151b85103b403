//===- Contract.h - operands of contractions and convolutions ---------------------------===//
#ifndef DLC_FRONTEND_MLIR_STABLEHLO_CONTRACT_H
#define DLC_FRONTEND_MLIR_STABLEHLO_CONTRACT_H

#include "frontend/mlir/stablehlo/Node.h"

namespace dlc::stablehlo {

/// Casts operands of a contraction so that sums have the element type of the result. Integers of 8
/// bits with sums of 32 bits remain, because dlc has such contractions.
void widenOperands(Build &b, Value &lhs, Value &rhs, Type result);

} // namespace dlc::stablehlo

#endif // DLC_FRONTEND_MLIR_STABLEHLO_CONTRACT_H
