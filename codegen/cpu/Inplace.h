//===- Inplace.h - which results of a kernel may lie where an operand lies -===//
#ifndef DLC_CODEGEN_CPU_INPLACE_H
#define DLC_CODEGEN_CPU_INPLACE_H

#include "ir/dlc/Dialect.h"

namespace dlc::cpu {

/// Pairs (result, input) of a normalised fusion that may be one buffer in the kernel that walks
/// rows (Kernel.h).
llvm::SmallVector<std::pair<unsigned, unsigned>> inplacePairs(FusionOp fusion);

} // namespace dlc::cpu
#endif
