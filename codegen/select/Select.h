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
/// kernel.
mlir::LogicalResult selectKernels(mlir::ModuleOp module, const CompileOptions &options,
                                  const cpu::Target &target);

} // namespace dlc
#endif
