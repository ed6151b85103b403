//===- Inplace.h - which results of a kernel may share an operand's buffer ---===//
#ifndef DLC_CODEGEN_CPU_INPLACE_H
#define DLC_CODEGEN_CPU_INPLACE_H

#include "ir/dlc/Dialect.h"

namespace dlc::cpu {

struct Target;

/// Returns the pairs (result index, input index) of a normalized fusion that may share a buffer,
/// for a kernel that iterates over rows (Kernel.h).
llvm::SmallVector<std::pair<unsigned, unsigned>> findElementwiseInplacePairs(FusionOp fusion);

/// For the schedule `rows`: returns the pairs (result index, input index) that may share a buffer
/// because each row is reduced before it is stored, as in softmax and its gradient. These pairs are
/// in addition to those of findElementwiseInplacePairs().
llvm::SmallVector<std::pair<unsigned, unsigned>> findRowwiseInplacePairs(FusionOp fusion,
                                                                         const Target &target);

/// For a reduction that is split into work units (Split.h): returns the pairs (result index, input
/// index) that may share a buffer. The results of these pairs have the shape of the reduction's
/// operand.
llvm::SmallVector<std::pair<unsigned, unsigned>> findSplitInplacePairs(FusionOp fusion,
                                                                       const Target &target);

} // namespace dlc::cpu
#endif
