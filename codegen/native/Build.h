//===- Build.h - an exec program as a runtime program ---------------------===//
#ifndef DLC_CODEGEN_NATIVE_BUILD_H
#define DLC_CODEGEN_NATIVE_BUILD_H

#include "codegen/cpu/Native.h"
#include "codegen/options/Options.h"

namespace dlc {

namespace runtime {
struct Program;
}

/// The module's kernels for processors, and those for GPUs, each in their order.
struct Kernels {
  explicit Kernels(mlir::ModuleOp module);
  std::vector<mlir::Operation *> cpu, gpu;
};

/// Machine code of every kernel for processors, made on all cores or taken from the cache; in the
/// module's order.
mlir::FailureOr<std::vector<cpu::Code>>
generateCode(mlir::ModuleOp module, const CompileOptions &options, const cpu::Target &target);

/// Compiles the kernels for GPUs, many at a time, or takes them from the cache; they come into the
/// program as modules, with their source, and as kernels by the names of their functions.
mlir::LogicalResult addGpuModules(mlir::ModuleOp module, const CompileOptions &options,
                                  runtime::Program &program);

/// The manifest, constants and code of a planned module.
mlir::FailureOr<std::shared_ptr<runtime::Program>>
buildProgram(mlir::ModuleOp module, const CompileOptions &options, const cpu::Target &target);

} // namespace dlc
#endif
