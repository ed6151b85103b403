//===- FusedAttention.h - attention that fused kernels compute ------------===//
#ifndef DLC_PASSES_FUSE_FUSEDATTENTION_H
#define DLC_PASSES_FUSE_FUSEDATTENTION_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// attention, attention_train or attention_grad.
bool isAttention(mlir::Operation *op);

/// Attribute of an attention that should stay whole when gradients are computed and when layers are
/// decomposed. On a GPU, all attention that can stay whole does, without the attribute.
constexpr llvm::StringLiteral kKeepFusedAttr = "dlc.keep_fused";

/// Maximum size of heads (D and E) that the kernels support.
inline constexpr int64_t maxHeadSize = 256;

/// Whether one kernel can compute the attention without storing its scores, regardless of the
/// device. If not, `why` is set to the reason.
bool canFuseAttention(mlir::Operation *op, std::string *why = nullptr);

/// Whether the attention is not decomposed: a fused kernel supports it, and its device is a GPU or
/// it has kKeepFusedAttr.
bool staysFused(mlir::Operation *op);

} // namespace dlc

#endif // DLC_PASSES_FUSE_FUSEDATTENTION_H
