//===- FusedAttention.h - attention as one kernel, or as matmuls and a softmax --===//
#ifndef DLC_CODEGEN_SELECT_FUSEDATTENTION_H
#define DLC_CODEGEN_SELECT_FUSEDATTENTION_H

#include "codegen/cpu/target/Target.h"
#include "codegen/options/Options.h"
#include "ir/dlc/Dialect.h"

namespace dlc {

/// Returns true if attention on the CPU is faster as one fused kernel than as separate matmuls and
/// softmax, by measurement or by estimate. `gradients`: compares the forward and backward pass
/// together.
bool isFusedAttentionFaster(AttentionOp op, const CompileOptions &options,
                            const cpu::Target &target, bool gradients);

} // namespace dlc
#endif
