//===- MissingInstructions.h - expands what a processor has no instruction for ---===//
#ifndef DLC_CODEGEN_CPU_TARGET_MISSINGINSTRUCTIONS_H
#define DLC_CODEGEN_CPU_TARGET_MISSINGINSTRUCTIONS_H

#include "codegen/cpu/target/Target.h"

namespace llvm {
class Module;
}

namespace dlc::cpu {

/// Expands operations for which LLVM would call functions of a library, which kernels cannot call:
/// conversions of f16 without F16C, rounding to integers without SSE4.1, and FMA without FMA.
void expandMissingInstructions(llvm::Module &module, const Target &target);

} // namespace dlc::cpu

#endif
