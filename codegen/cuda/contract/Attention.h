//===- Attention.h - attention whose scores are never stored in memory ----===//
#ifndef DLC_CODEGEN_CUDA_CONTRACT_ATTENTION_H
#define DLC_CODEGEN_CUDA_CONTRACT_ATTENTION_H

#include "codegen/cuda/Plan.h"

namespace dlc::cuda {

/// Returns the fusion's attention operation; null if it has none.
mlir::Operation *findAttention(FusionOp fusion);

/// Returns whether the attention kernels can read all operands and write all results of the fusion.
/// If not, `why` is the reason.
bool canGenerateAttention(FusionOp fusion, mlir::Operation *attention, std::string *why);

/// Emits the kernel launches that compute the attention operation.
void emitAttentionKernel(KernelGenerator &plan, mlir::Operation *attention);

} // namespace dlc::cuda
#endif
