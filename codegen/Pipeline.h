//===- Pipeline.h - the order of everything -------------------------------===//
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

/// The passes of a phase. Native leaves its program in `made`.
void addPhase(mlir::OpPassManager &passes, Phase phase, const CompileOptions &options,
              std::shared_ptr<runtime::Program> *made = nullptr);

/// Runs the phases from `from` to `to` on the module. Returns the program when `to` is Native, else
/// null. Errors are diagnostics on the module's context.
mlir::FailureOr<std::shared_ptr<runtime::Program>> compile(mlir::ModuleOp module,
                                                           const CompileOptions &options);

} // namespace dlc

#endif // DLC_CODEGEN_PIPELINE_H
