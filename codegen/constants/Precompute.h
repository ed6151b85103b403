//===- Precompute.h - computes constant expressions with compiled kernels ---===//
//
// The reference evaluator folds cheap constant expressions. Matmuls of weights by weights (such as
// DeBERTa's position tables, which each layer projects) would take it minutes, and would take a
// large part of each program run. They are compiled to a separate program, which is run once and
// replaced by its results.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CONSTANTS_PRECOMPUTE_H
#define DLC_CODEGEN_CONSTANTS_PRECOMPUTE_H

#include "codegen/options/Options.h"

namespace dlc {

namespace runtime {
struct Program;
}

/// Compiles a module that has passed the phases before `options.from`.
using CompileModule = std::function<mlir::FailureOr<std::shared_ptr<runtime::Program>>(
    mlir::ModuleOp, const CompileOptions &)>;

/// Returns true if anything was replaced. Expressions that cannot be compiled or run are unchanged.
bool precompute(mlir::ModuleOp module, const CompileOptions &options, const CompileModule &compile);

} // namespace dlc

#endif // DLC_CODEGEN_CONSTANTS_PRECOMPUTE_H
