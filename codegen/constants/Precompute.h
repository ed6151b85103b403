//===- Precompute.h - computes constant expressions with compiled kernels ---===//
//
// The reference evaluator folds cheap constant expressions. Matmuls of weights by weights (such as
// DeBERTa's position tables, which each layer projects) would take it minutes, and would take a
// large part of the time of each run if they were not folded. Such expressions are compiled to a
// separate program. It runs once at compile time, and its results replace the expressions.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CONSTANTS_PRECOMPUTE_H
#define DLC_CODEGEN_CONSTANTS_PRECOMPUTE_H

#include "codegen/options/Options.h"

namespace dlc {

namespace runtime {
struct Program;
}

/// Callback that compiles a module, which must have passed the phases before `options.from`, to a
/// program.
using CompileModule = std::function<mlir::FailureOr<std::shared_ptr<runtime::Program>>(
    mlir::ModuleOp, const CompileOptions &)>;

/// Evaluates expensive constant expressions of @main by compiled kernels, and replaces them by
/// constants. Returns true if any expression was replaced. Expressions that cannot be compiled or
/// run are unchanged.
bool precomputeConstants(mlir::ModuleOp module, const CompileOptions &options,
                         const CompileModule &compile);

} // namespace dlc

#endif // DLC_CODEGEN_CONSTANTS_PRECOMPUTE_H
