//===- Select.h - which kernel does each operation ------------------------===//
//
// Every provider is asked for a candidate; all stand in one list with their estimates, and the
// choice is written on the operation: dlc.kernel = "generated" | "contract" | "onednn" | "builtin"
// | "cuda", dlc.implementation = which of a library's, dlc.candidates = what stood for election.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_SELECT_SELECT_H
#define DLC_CODEGEN_SELECT_SELECT_H

#include "codegen/Pipeline.h"
#include "codegen/cpu/Target.h"

namespace dlc {

constexpr llvm::StringLiteral kKernelAttr = "dlc.kernel";
constexpr llvm::StringLiteral kImplementationAttr = "dlc.implementation";
constexpr llvm::StringLiteral kCandidatesAttr = "dlc.candidates";
/// Why the kernels that were asked for by name cannot do it.
constexpr llvm::StringLiteral kRefusedAttr = "dlc.refused";

/// Chooses for every fusion and every operation that is a command of its own.
mlir::LogicalResult selectKernels(mlir::ModuleOp module, const CompileOptions &options,
                                  const cpu::Target &target);

} // namespace dlc
#endif
