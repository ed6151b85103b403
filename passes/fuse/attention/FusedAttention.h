//===- FusedAttention.h - attention that fused kernels compute ------------===//
#ifndef DLC_PASSES_FUSE_ATTENTION_FUSEDATTENTION_H
#define DLC_PASSES_FUSE_ATTENTION_FUSEDATTENTION_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// Returns whether the operation is attention, attention_train or attention_grad.
bool isAttention(mlir::Operation *op);

/// Maximum head size (D of q and k, E of v) that the fused kernels support.
inline constexpr int64_t maxHeadSize = 256;

/// Returns whether one kernel can compute the attention without storing its scores, regardless of
/// the device. If not, `why` is set to the reason.
bool canFuseAttention(mlir::Operation *op, std::string *why = nullptr);

/// Returns whether the attention is not decomposed: a fused kernel supports it, and its device is a
/// GPU or the operation has kKeepFusedAttr.
bool shouldKeepFused(mlir::Operation *op);

} // namespace dlc

#endif // DLC_PASSES_FUSE_ATTENTION_FUSEDATTENTION_H
