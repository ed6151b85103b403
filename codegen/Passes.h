//===- Passes.h - the later phases' passes --------------------------------===//
#ifndef DLC_CODEGEN_PASSES_H
#define DLC_CODEGEN_PASSES_H

#include "codegen/options/Options.h"

#include "mlir/Pass/Pass.h"

#include <memory>

namespace dlc {

namespace runtime {
struct Program;
}

/// `dlc-precompute`: what follows from constants alone and is much work is computed now.
std::unique_ptr<mlir::Pass> createPrecomputePass(const CompileOptions &options = {});
/// `dlc-select`: which kernel does each fusion and each command.
std::unique_ptr<mlir::Pass> createSelectPass(const CompileOptions &options = {});
/// `dlc-refine`: what chosen kernels do beside what they were chosen for.
std::unique_ptr<mlir::Pass> createRefinePass(const CompileOptions &options = {});
/// `dlc-lower`: @main as a command list.
std::unique_ptr<mlir::Pass> createLowerPass(const CompileOptions &options = {});
/// `dlc-effort`: which kernels' code is made with the least effort.
std::unique_ptr<mlir::Pass> createEffortPass();
/// `dlc-plan-memory`: every arena buffer's offset.
std::unique_ptr<mlir::Pass> createPlanMemoryPass();
/// `dlc-verify-memory`: every byte read is the reader's own.
std::unique_ptr<mlir::Pass> createVerifyMemoryPass();
/// `dlc-native`: the program, left in `made` or written into a file.
std::unique_ptr<mlir::Pass> createNativePass(const CompileOptions &options = {},
                                             std::shared_ptr<runtime::Program> *made = nullptr,
                                             const std::string &output = "");

/// Makes these known to pass pipelines by name, with `dlc-emit-kernels` (exec.kernel to vectors and
/// loops) and `dlc-lower-kernels` (those to the llvm dialect), and each phase of a compilation as
/// `dlc-phase-NAME`, which takes the options of `dlc compile`.
void registerCodegenPasses();

} // namespace dlc
#endif
