//===- Native.h - compiles emitted MLIR to position-independent machine code ---===//
#ifndef DLC_CODEGEN_CPU_NATIVE_H
#define DLC_CODEGEN_CPU_NATIVE_H

#include "codegen/cpu/Target.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <optional>

namespace dlc::cpu {

/// Returns this machine's processor, in LLVM's terms.
Target hostTarget();

/// Lowers scf, arith, math and vector to the llvm dialect. One instance serves all modules of a
/// context, in several threads at once, because creating its hundreds of patterns takes as long as
/// compiling a small kernel.
class LlvmLowering {
public:
  explicit LlvmLowering(mlir::MLIRContext *context);
  ~LlvmLowering();
  mlir::LogicalResult run(mlir::ModuleOp module) const;

private:
  struct Parts;
  std::unique_ptr<Parts> parts;
};

/// Machine code of one kernel: a flat image without relocations or external symbols.
struct Code {
  std::string bytes;
  uint64_t entry = 0; ///< offset of the kernel's entry point in the image
};

/// How much work is spent on a kernel's code. Least: -O0 code generation, in which each value is
/// spilled to memory, after fewer optimization passes.
enum class KernelOptLevel { Default, Minimal };

/// Compiles a module in the llvm dialect that holds the kernel `name`. `contracts`: whether a
/// multiplication and an addition may be fused into an FMA, which rounds once. Thread-safe.
mlir::FailureOr<Code> compileKernel(mlir::ModuleOp module, llvm::StringRef name,
                                    const Target &target,
                                    KernelOptLevel level = KernelOptLevel::Default,
                                    bool contracts = true);

/// Concatenates the sections of a relocatable ELF object and resolves the relocations among them.
/// On failure, `error` is the reason.
std::optional<Code> flatten(llvm::StringRef object, llvm::StringRef entry, std::string &error);

} // namespace dlc::cpu
#endif
