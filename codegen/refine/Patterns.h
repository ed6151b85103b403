//===- Patterns.h - the table of patterns ---------------------------------===//
#ifndef DLC_CODEGEN_REFINE_PATTERNS_H
#define DLC_CODEGEN_REFINE_PATTERNS_H

#include "codegen/refine/Refine.h"

namespace dlc {

/// Gradients.cpp: the gradient of an activation within the product before or after it.
const Pattern &activationGradients();
/// Statistics.cpp: sums of a convolution's channels where it makes them.
const Pattern &channelSums();
/// Prologues.cpp: what only products read is made where they pack it.
const Pattern &madeOperands();
/// Sums.cpp: the sum of an operand's columns within the product that packs it.
const Pattern &columnSums();

/// A fusion of nothing but a sum over all dimensions but the last; null for others.
ReduceOp soleColumnSum(FusionOp fusion);
/// Whether it sums up everything but the last dimension; null for others.
ReduceOp columnSum(mlir::Operation *op);

} // namespace dlc
#endif
