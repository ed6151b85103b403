//===- Select.h - which kernel does each operation ------------------------===//
//
// Every provider is asked for candidates; all stand in one list with their estimates, and choice
// and election are written on the operation (codegen/providers/Candidate.h).
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_SELECT_SELECT_H
#define DLC_CODEGEN_SELECT_SELECT_H

#include "codegen/cpu/Target.h"
#include "codegen/options/Options.h"

namespace dlc {

/// Chooses for every fusion and every operation that is a command of its own.
mlir::LogicalResult selectKernels(mlir::ModuleOp module, const CompileOptions &options,
                                  const cpu::Target &target);

} // namespace dlc
#endif
