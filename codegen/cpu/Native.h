//===- Native.h - from emitted MLIR to position-independent machine code --===//
#ifndef DLC_CODEGEN_CPU_NATIVE_H
#define DLC_CODEGEN_CPU_NATIVE_H

#include "codegen/cpu/Target.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <optional>

namespace dlc::cpu {

/// This machine's processor, as LLVM names it.
Target hostTarget();

/// Lowers scf, arith, math and vector to the llvm dialect. One serves all modules of a context, and
/// several threads at once: its hundreds of patterns take as long to make as a small kernel's code.
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
  uint64_t entry = 0; ///< where the kernel starts in the image
};

/// How much is done for a kernel's code. The least: each value has a place in memory, to which it
/// goes back, and what the emitter left is not simplified.
enum class Effort { Usual, Least };

/// Compiles a module in the llvm dialect that holds the kernel `name`. `contracts`: a product and a
/// sum may become one instruction, which rounds once. Safe to call from several threads at once.
mlir::FailureOr<Code> compileKernel(mlir::ModuleOp module, llvm::StringRef name,
                                    const Target &target, Effort effort = Effort::Usual,
                                    bool contracts = true);

/// Places the sections of a relocatable ELF object behind one another and resolves what refers
/// among them. On failure `error` says what stands in the way.
std::optional<Code> flatten(llvm::StringRef object, llvm::StringRef entry, std::string &error);

} // namespace dlc::cpu
#endif
