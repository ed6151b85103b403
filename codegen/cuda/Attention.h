//===- Attention.h - attention without its scores in memory ----------------===//
#ifndef DLC_CODEGEN_CUDA_ATTENTION_H
#define DLC_CODEGEN_CUDA_ATTENTION_H

#include "codegen/cuda/Plan.h"

namespace dlc::cuda {

/// The attention of a fusion that has one; null.
mlir::Operation *attentionOf(FusionOp fusion);

/// Whether its kernels can read and write all that stands around it. The reason goes into `why`.
bool canAttend(FusionOp fusion, mlir::Operation *attention, std::string *why);

/// Its launches.
void launchAttention(Planner &plan, mlir::Operation *attention);

} // namespace dlc::cuda
#endif
