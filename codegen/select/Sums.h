//===- Sums.h - the sum of an operand's columns within the product that packs it ----===//
//
//   x -+-> views -> matmul -> ..
//      +-> sum of columns
//
// The gradient of a bias sums up what the gradient of the weights multiplies: a kernel would read
// that once more from memory.
//
//===------------------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_SELECT_SUMS_H
#define DLC_CODEGEN_SELECT_SUMS_H

#include "codegen/cpu/Target.h"
#include "codegen/select/Candidates.h"

namespace dlc {

/// A fusion of nothing but a sum over all dimensions but the last; null for others.
ReduceOp soleColumnSum(FusionOp fusion);
/// Whether it sums up everything but the last dimension; null for others.
ReduceOp columnSum(mlir::Operation *op);

/// Gives products the sums of their operands' columns, where one of our own takes less time so than
/// the product that was chosen and the kernel together.
void absorbSums(mlir::ModuleOp module, const CompileOptions &options, const cpu::Target &target,
                Choices &choices);

} // namespace dlc
#endif
