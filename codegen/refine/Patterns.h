//===- Patterns.h - table of refinement patterns --------------------------===//
#ifndef DLC_CODEGEN_REFINE_PATTERNS_H
#define DLC_CODEGEN_REFINE_PATTERNS_H

#include "codegen/refine/Refine.h"

namespace dlc {

/// Gradients.cpp: fuses the gradient of an activation into the matmul before or after it.
const Pattern &activationGradients();
/// Statistics.cpp: computes channel statistics in the epilogue of a convolution.
const Pattern &channelStatistics();
/// Prologues.cpp: computes values that only matmuls read while they are packed.
const Pattern &operandPrologues();
/// Sums.cpp: computes the column sums of an operand in the matmul that packs it.
const Pattern &columnSums();

/// Returns the only op of a fusion if it sums over all dimensions but the last; else null.
ReduceOp soleColumnSum(FusionOp fusion);
/// Returns the op if it sums over all dimensions but the last; else null.
ReduceOp columnSum(mlir::Operation *op);

} // namespace dlc
#endif
