//===- WholeAttention.h - attention that a GPU's kernels do whole ---------===//
#ifndef DLC_PASSES_FUSE_WHOLEATTENTION_H
#define DLC_PASSES_FUSE_WHOLEATTENTION_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// attention, attention_train or attention_grad.
bool isAttention(mlir::Operation *op);

/// On an attention that its gradient should keep whole.
constexpr llvm::StringLiteral kKeepWholeAttr = "dlc.keep_whole";

/// The longest heads (D and E) that kernels hold.
inline constexpr int64_t maxHead = 256;

/// Whether one kernel does the attention without its scores in memory, whatever device it is on;
/// `why` not.
bool isWholeAttention(mlir::Operation *op, std::string *why = nullptr);

/// Whether the attention is not spelled out: it is on a GPU, and done whole there.
bool staysWhole(mlir::Operation *op);

} // namespace dlc

#endif // DLC_PASSES_FUSE_WHOLEATTENTION_H
