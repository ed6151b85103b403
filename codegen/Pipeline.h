//===- Pipeline.h - the phases of a compilation in order ------------------===//
#ifndef DLC_CODEGEN_PIPELINE_H
#define DLC_CODEGEN_PIPELINE_H

#include "codegen/options/Context.h"
#include "codegen/options/Options.h"

#include "mlir/Pass/PassManager.h"

#include <memory>

namespace dlc {

namespace runtime {
struct Program;
}

/// Adds the passes of a compilation phase to `passes`. The phase Native stores the compiled program
/// in `made`.
void addPhase(mlir::OpPassManager &passes, Phase phase, const CompileOptions &options,
              std::shared_ptr<runtime::Program> *made = nullptr);

/// Runs the phases from `options.from` to `options.to` on the module. Returns the program if `to`
/// is Native, else null. Errors are reported as diagnostics on the module's context.
mlir::FailureOr<std::shared_ptr<runtime::Program>> compile(mlir::ModuleOp module,
                                                           const CompileOptions &options);

} // namespace dlc

#endif // DLC_CODEGEN_PIPELINE_H
