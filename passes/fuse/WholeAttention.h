//===- WholeAttention.h - attention that kernels do whole -----------------===//
#ifndef DLC_PASSES_FUSE_WHOLEATTENTION_H
#define DLC_PASSES_FUSE_WHOLEATTENTION_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// attention, attention_train or attention_grad.
bool isAttention(mlir::Operation *op);

/// On an attention that should stay whole where it is differentiated and opened (on a GPU all that
/// can, without it).
constexpr llvm::StringLiteral kKeepWholeAttr = "dlc.keep_whole";

/// The longest heads (D and E) that kernels hold.
inline constexpr int64_t maxHead = 256;

/// Whether one kernel does the attention without its scores in memory, whatever device it is on;
/// `why` not.
bool isWholeAttention(mlir::Operation *op, std::string *why = nullptr);

/// Whether the attention is not spelled out: it can be done whole, and is on a GPU or marked.
bool staysWhole(mlir::Operation *op);

} // namespace dlc

#endif // DLC_PASSES_FUSE_WHOLEATTENTION_H
