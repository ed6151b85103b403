//===- Inplace.h - which results of a kernel may share an operand's buffer ---===//
#ifndef DLC_CODEGEN_CPU_INPLACE_H
#define DLC_CODEGEN_CPU_INPLACE_H

#include "ir/dlc/Dialect.h"

namespace dlc::cpu {

struct Target;

/// Returns the pairs (result, input) of a normalized fusion that may share a buffer in the kernel
/// that iterates over rows (Kernel.h).
llvm::SmallVector<std::pair<unsigned, unsigned>> inplacePairs(FusionOp fusion);

/// Returns further pairs for schedule rows if rows are reduced before they are stored (softmax and
/// its gradient).
llvm::SmallVector<std::pair<unsigned, unsigned>> inplaceRows(FusionOp fusion, const Target &target);

/// Returns further pairs for a reduction that is split into parts (Split.h) and that also stores
/// results with the shape of its operand.
llvm::SmallVector<std::pair<unsigned, unsigned>> inplaceParts(FusionOp fusion,
                                                              const Target &target);

} // namespace dlc::cpu
#endif
