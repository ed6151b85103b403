//===- Inplace.h - which results of a kernel may share an operand's buffer ---===//
#ifndef DLC_CODEGEN_CPU_INPLACE_H
#define DLC_CODEGEN_CPU_INPLACE_H

#include "ir/dlc/Dialect.h"

namespace dlc::cpu {

struct Target;

/// Returns the pairs (result index, input index) of a normalized fusion that may share a buffer,
/// for a kernel that iterates over rows (Kernel.h).
llvm::SmallVector<std::pair<unsigned, unsigned>> findElementwiseInplacePairs(FusionOp fusion);

/// Returns further pairs (result index, input index) that may share a buffer because each row is
/// reduced before it is stored, as in softmax and its gradient. For the schedule `rows`.
llvm::SmallVector<std::pair<unsigned, unsigned>> findRowwiseInplacePairs(FusionOp fusion,
                                                                         const Target &target);

/// Returns further pairs (result index, input index) that may share a buffer, for a reduction that
/// is split into work units (Split.h) and also stores results with the shape of its operand.
llvm::SmallVector<std::pair<unsigned, unsigned>> findSplitInplacePairs(FusionOp fusion,
                                                                       const Target &target);

} // namespace dlc::cpu
#endif
