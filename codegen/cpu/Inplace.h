//===- Inplace.h - which results of a kernel may lie where an operand lies -===//
#ifndef DLC_CODEGEN_CPU_INPLACE_H
#define DLC_CODEGEN_CPU_INPLACE_H

#include "ir/dlc/Dialect.h"

namespace dlc::cpu {

struct Target;

/// Pairs (result, input) of a normalised fusion that may be one buffer in the kernel that walks
/// rows (Kernel.h).
llvm::SmallVector<std::pair<unsigned, unsigned>> inplacePairs(FusionOp fusion);

/// More of them where rows are reduced before they are stored (softmax and its gradient), in
/// schedule rows.
llvm::SmallVector<std::pair<unsigned, unsigned>> inplaceRows(FusionOp fusion, const Target &target);

/// More of them where a reduction is cut into parts (Split.h), beside whose terms results of their
/// shape are stored.
llvm::SmallVector<std::pair<unsigned, unsigned>> inplaceParts(FusionOp fusion,
                                                              const Target &target);

} // namespace dlc::cpu
#endif
