//===- Precompute.h - what constants make is computed while compiling, by kernels ===//
//
// The reference evaluator folds what it can in a moment. Products of weights by weights (tables of
// positions that each layer projects, as DeBERTa's) would take it minutes, and each run of the
// program a large part of its time. They become a program of their own, which is compiled, run
// once, and replaced by its results.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CONSTANTS_PRECOMPUTE_H
#define DLC_CODEGEN_CONSTANTS_PRECOMPUTE_H

#include "codegen/options/Options.h"

namespace dlc {

namespace runtime {
struct Program;
}

/// Compiles a module that stands before the phase `options.from`.
using CompileModule = std::function<mlir::FailureOr<std::shared_ptr<runtime::Program>>(
    mlir::ModuleOp, const CompileOptions &)>;

/// Whether anything was replaced. What cannot be compiled or run stays as it is.
bool precompute(mlir::ModuleOp module, const CompileOptions &options, const CompileModule &compile);

} // namespace dlc

#endif // DLC_CODEGEN_CONSTANTS_PRECOMPUTE_H
