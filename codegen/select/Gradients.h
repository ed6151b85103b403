//===- Gradients.h - the gradient of an activation within the product before it ---===//
//
//   y -> 1 - y -> y (1 - y) -+            y -> y > 0 -+
//                            v                        v
//   matmul ----------------> mul          matmul -> select -> ..
//
// A kernel makes the factor, or reads the product's result: bound by memory either way. Our own
// products do it where they make their results, from y. Libraries cannot, so that what the fuse
// pass leaves to all of them is decided here, when kernels have been chosen.
//
//===------------------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_SELECT_GRADIENTS_H
#define DLC_CODEGEN_SELECT_GRADIENTS_H

#include "codegen/cpu/Target.h"
#include "codegen/select/Candidates.h"

namespace dlc {

/// Gives products the gradients of activations that come next, where one of our own takes less time
/// so than the product that was chosen and the kernel together. `choices` knows the module's
/// operations by their place in memory, and is kept so.
void absorbGradients(mlir::ModuleOp module, const CompileOptions &options,
                     const cpu::Target &target, Choices &choices);

} // namespace dlc
#endif
