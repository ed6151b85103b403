//===- Native.h - compiles emitted MLIR to position-independent machine code ---===//
#ifndef DLC_CODEGEN_CPU_TARGET_NATIVE_H
#define DLC_CODEGEN_CPU_TARGET_NATIVE_H

#include "codegen/cpu/target/Target.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <optional>

namespace dlc::cpu {

/// Returns the processor of this machine, with its name and features as LLVM spells them.
Target hostTarget();

/// Conversion patterns that lower scf, arith, math and vector to the llvm dialect. One instance
/// serves all modules of a context, in several threads at once, because creating its hundreds of
/// patterns takes as long as compiling a small kernel.
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
struct MachineCode {
  std::string bytes;
  uint64_t entry = 0; ///< offset of the kernel's entry point in the image
};

/// Optimization level of a kernel's machine code. Minimal: fewer optimization passes and -O0 code
/// generation, which spills each value to memory.
enum class KernelOptLevel { Default, Minimal };

/// Compiles the kernel `name` in a module of the llvm dialect to machine code. `contracts`: whether
/// a multiplication and an addition may be contracted to an FMA, which rounds once. Thread-safe.
mlir::FailureOr<MachineCode> compileKernel(mlir::ModuleOp module, llvm::StringRef name,
                                           const Target &target,
                                           KernelOptLevel level = KernelOptLevel::Default,
                                           bool contracts = true);

/// Links a relocatable ELF object to a flat image: concatenates its sections and resolves the
/// relocations among them. On failure, returns nothing and sets `error` to the reason.
std::optional<MachineCode> linkToFlatImage(llvm::StringRef object, llvm::StringRef entry,
                                           std::string &error);

} // namespace dlc::cpu
#endif
