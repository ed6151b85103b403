//===- CompareAttention.h - cost of attention as one kernel or as several -----===//
#ifndef DLC_PASSES_FUSE_ATTENTION_COMPAREATTENTION_H
#define DLC_PASSES_FUSE_ATTENTION_COMPAREATTENTION_H

#include "ir/dlc/Dialect.h"
#include "passes/Costs.h"

namespace dlc {

/// Returns true if attention takes less time as one fused kernel than as separate matmuls and
/// softmax. `accuracy`: level of --accuracy. `gradients`: adds the times of the forward and
/// backward passes.
bool isFusedAttentionFaster(AttentionOp op, llvm::StringRef accuracy, Costs &costs, bool gradients);

} // namespace dlc

#endif // DLC_PASSES_FUSE_ATTENTION_COMPAREATTENTION_H
