//===- Patterns.h - table of refinement patterns --------------------------===//
#ifndef DLC_CODEGEN_REFINE_PATTERNS_H
#define DLC_CODEGEN_REFINE_PATTERNS_H

#include "codegen/refine/Refine.h"

namespace dlc {

/// Pattern that splits the fusion around a contraction into two kernels (SplitFusion.cpp).
const RefinePattern &getSplitFusionPattern();
/// Pattern that fuses the gradient of an activation into the matmul before or after it
/// (Gradients.cpp).
const RefinePattern &getActivationGradientPattern();
/// Pattern that computes channel statistics in the epilogue of a convolution (Statistics.cpp).
const RefinePattern &getChannelStatisticsPattern();
/// Pattern that computes a matmul's operand in the matmul itself, as a prologue that runs while the
/// operand is packed (Prologues.cpp).
const RefinePattern &getOperandProloguePattern();
/// Pattern that computes the column sums of a matmul's operand in the matmul, while the operand is
/// packed (Sums.cpp).
const RefinePattern &getColumnSumPattern();

/// Returns the reduction of a fusion that has only one op, which sums over all dimensions but the
/// last. Returns null for other fusions.
ReduceOp matchSingleColumnSum(FusionOp fusion);
/// Returns `op` as a reduction if it sums over all dimensions but the last; null otherwise.
ReduceOp matchColumnSum(mlir::Operation *op);

} // namespace dlc
#endif
