//===- Select.h - kernel selection ----------------------------------------===//
//
// Queries all providers for candidates, and stores the chosen kernel and all candidates with their
// estimates as attributes of the operation (codegen/providers/Candidate.h).
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_SELECT_SELECT_H
#define DLC_CODEGEN_SELECT_SELECT_H

#include "codegen/cpu/target/Target.h"
#include "codegen/options/Options.h"

namespace dlc {

/// Selects a kernel for every fusion and for every other operation that becomes a command with a
/// kernel. Operations that no kernel supports remain without one, because refinement may split
/// them (codegen/refine).
mlir::LogicalResult selectKernels(mlir::ModuleOp module, const CompileOptions &options,
                                  const cpu::Target &target);

/// Selects kernels for some operations of the module that were created after its kernels were
/// selected. A matmul may be replaced by one with dequantized weights, which then replaces it in
/// `operations`.
mlir::LogicalResult selectKernels(mlir::ModuleOp module,
                                  llvm::MutableArrayRef<mlir::Operation *> operations,
                                  const CompileOptions &options, const cpu::Target &target);

} // namespace dlc
#endif
