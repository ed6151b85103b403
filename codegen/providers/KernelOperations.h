//===- KernelOperations.h - operations for which kernels are selected -----===//
#ifndef DLC_CODEGEN_PROVIDERS_KERNELOPERATIONS_H
#define DLC_CODEGEN_PROVIDERS_KERNELOPERATIONS_H

#include "mlir/IR/BuiltinOps.h"

namespace dlc {

/// Returns the operations for which kernels are selected: fusions, and operations that only the
/// runtime or a library implements.
llvm::SmallVector<mlir::Operation *> findKernelOperations(mlir::ModuleOp module);

} // namespace dlc
#endif
