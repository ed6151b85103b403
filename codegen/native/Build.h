//===- Build.h - builds a runtime program from an exec program ------------===//
#ifndef DLC_CODEGEN_NATIVE_BUILD_H
#define DLC_CODEGEN_NATIVE_BUILD_H

#include "codegen/cpu/Native.h"
#include "codegen/options/Options.h"

namespace dlc {

namespace runtime {
struct Program;
}

/// The module's CPU and GPU kernels, each in module order.
struct Kernels {
  explicit Kernels(mlir::ModuleOp module);
  std::vector<mlir::Operation *> cpu, gpu;
};

/// Returns the machine code of every CPU kernel in module order, compiled on all cores or read from
/// the cache.
mlir::FailureOr<std::vector<cpu::Code>>
generateCode(mlir::ModuleOp module, const CompileOptions &options, const cpu::Target &target);

/// Compiles the GPU kernels in parallel, or reads them from the cache. Adds them to the program as
/// modules with their source, and as kernels by function name.
mlir::LogicalResult addGpuModules(mlir::ModuleOp module, const CompileOptions &options,
                                  runtime::Program &program);

/// Builds the manifest, constants and code from a module with planned memory.
mlir::FailureOr<std::shared_ptr<runtime::Program>>
buildProgram(mlir::ModuleOp module, const CompileOptions &options, const cpu::Target &target);

} // namespace dlc
#endif
