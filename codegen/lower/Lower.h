//===- Lower.h - dlc functions to exec programs ---------------------------===//
#ifndef DLC_CODEGEN_LOWER_LOWER_H
#define DLC_CODEGEN_LOWER_LOWER_H

#include "codegen/cpu/target/Target.h"
#include "codegen/options/Options.h"

namespace dlc {

/// Lowers @main to an exec.program (a list of commands) and creates one exec.kernel for each
/// distinct generated fusion.
mlir::LogicalResult lowerToExec(mlir::ModuleOp module, const CompileOptions &options,
                                const cpu::Target &target);

} // namespace dlc
#endif
