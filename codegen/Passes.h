//===- Passes.h - passes from constant precomputation to native code ------===//
#ifndef DLC_CODEGEN_PASSES_H
#define DLC_CODEGEN_PASSES_H

#include "codegen/options/Options.h"

#include "mlir/Pass/Pass.h"

#include <functional>
#include <memory>

namespace dlc {

namespace runtime {
struct Program;
}

/// `dlc-precompute`: evaluates expensive ops on constants at compile time.
std::unique_ptr<mlir::Pass> createPrecomputePass(const CompileOptions &options = {});
/// `dlc-select`: chooses the kernel of each fusion and each command.
std::unique_ptr<mlir::Pass> createSelectPass(const CompileOptions &options = {});
/// `dlc-refine`: fuses further ops into chosen kernels that support them.
std::unique_ptr<mlir::Pass> createRefinePass(const CompileOptions &options = {});
/// `dlc-lower`: lowers @main to a command list.
std::unique_ptr<mlir::Pass> createLowerPass(const CompileOptions &options = {});
/// `dlc-opt-level`: marks the kernels that are compiled with the minimal optimization level.
std::unique_ptr<mlir::Pass> createOptLevelPass();
/// `dlc-plan-memory`: assigns the offset of every arena buffer.
std::unique_ptr<mlir::Pass> createPlanMemoryPass();
/// `dlc-verify-memory`: checks that each byte that a command reads was last written as a part of
/// the buffer that the command reads.
std::unique_ptr<mlir::Pass> createVerifyMemoryPass();
/// `dlc-native`: builds the program. Stores it in `*made` or writes it to the file `output`.
std::unique_ptr<mlir::Pass> createNativePass(const CompileOptions &options = {},
                                             std::shared_ptr<runtime::Program> *made = nullptr,
                                             const std::string &output = "");

/// Registers the passes of code generation by name, and also `dlc-emit-kernels` (exec.kernel to
/// vectors and loops) and `dlc-lower-kernels` (vectors and loops to the llvm dialect). Each phase
/// of a compilation is registered as the pipeline `dlc-phase-NAME`, which takes the options of `dlc
/// compile`. `addImport` adds the passes of the import phase.
void registerCodegenPasses(std::function<void(mlir::OpPassManager &)> addImport);

} // namespace dlc
#endif
