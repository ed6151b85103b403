//===- Native.h - from emitted MLIR to position-independent machine code --===//
#ifndef DLC_CODEGEN_CPU_NATIVE_H
#define DLC_CODEGEN_CPU_NATIVE_H

#include "codegen/cpu/Target.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace dlc::cpu {

/// This machine's processor, as LLVM names it.
Target hostTarget();

/// Lowers scf, arith, math and vector in the module to the llvm dialect.
mlir::LogicalResult lowerToLlvm(mlir::ModuleOp module);

/// Machine code of one kernel: a flat image without relocations or external symbols.
struct Code {
  std::string bytes;
  uint64_t entry = 0; ///< where the kernel starts in the image
};

/// Compiles a module in the llvm dialect that holds the kernel `name`. Safe to call from several
/// threads at once.
mlir::FailureOr<Code> compileKernel(mlir::ModuleOp module, llvm::StringRef name,
                                    const Target &target);

/// Places the sections of a relocatable ELF object behind one another and resolves what refers
/// among them. On failure `error` says what stands in the way.
std::optional<Code> flatten(llvm::StringRef object, llvm::StringRef entry, std::string &error);

} // namespace dlc::cpu
#endif
