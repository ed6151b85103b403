//===- Build.h - builds a runtime program from an exec program ------------===//
#ifndef DLC_CODEGEN_NATIVE_BUILD_H
#define DLC_CODEGEN_NATIVE_BUILD_H

#include "codegen/cpu/target/Native.h"
#include "codegen/options/Options.h"

namespace dlc {

namespace runtime {
struct Program;
}

/// CPU kernels and GPU kernels of a module, in the order of the module.
struct ModuleKernels {
  explicit ModuleKernels(mlir::ModuleOp module);
  std::vector<mlir::Operation *> cpu, gpu;
};

/// Returns the machine code of each CPU kernel in the order of the module. Kernels that are not in
/// the cache are compiled on all cores.
mlir::FailureOr<std::vector<cpu::MachineCode>>
generateCode(mlir::ModuleOp module, const CompileOptions &options, const cpu::Target &target);

/// Compiles the GPU kernels in parallel or reads them from the cache. Adds the compiled modules,
/// with their source text, and their functions to the program.
mlir::LogicalResult addGpuModules(mlir::ModuleOp module, const CompileOptions &options,
                                  runtime::Program &program);

/// Builds a runtime program (manifest, constants and machine code) from a module whose memory is
/// planned.
mlir::FailureOr<std::shared_ptr<runtime::Program>>
buildProgram(mlir::ModuleOp module, const CompileOptions &options, const cpu::Target &target);

} // namespace dlc
#endif
