//===- Build.h - an exec program as a runtime program ---------------------===//
#ifndef DLC_CODEGEN_NATIVE_BUILD_H
#define DLC_CODEGEN_NATIVE_BUILD_H

#include "codegen/Pipeline.h"
#include "codegen/cpu/Native.h"

namespace dlc {

/// Machine code of every exec.kernel, made on all cores or taken from the cache; in the module's order.
mlir::FailureOr<std::vector<cpu::Code>> generateCode(mlir::ModuleOp module, const CompileOptions &options, const cpu::Target &target);

/// The manifest, constants and code of a planned module.
mlir::FailureOr<std::shared_ptr<runtime::Program>> buildProgram(mlir::ModuleOp module, const CompileOptions &options,
                                                                const cpu::Target &target);

} // namespace dlc
#endif
