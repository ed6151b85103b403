//===- Compositions.h - layers composed from simpler dlc operations -------===//
#ifndef DLC_PASSES_COMPOSITIONS_H
#define DLC_PASSES_COMPOSITIONS_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// Element type in which statistics of `x` are computed: f32 for f16 and bf16, otherwise the
/// element type of `x`.
mlir::Type statisticsType(mlir::Value x);

/// Builds softmax(x) along `axes`, in the element type of `x`. For a row of -inf only, the result
/// is 0 if `hidden` is set (the rows may be fully masked), and NaN otherwise.
mlir::Value softmaxOf(TensorBuilder &b, mlir::Value x, llvm::ArrayRef<int64_t> axes, bool hidden);

/// Operands and attributes of attention scores before the softmax: scale * q k^T + mask, with -inf
/// at masked positions. The scores are computed in the type of statistics.
struct AttentionScores {
  mlir::Value q, k, mask;
  double scale;
  bool causal;
};
template <typename Op> AttentionScores scoresOf(Op op) {
  return {op.getQ(), op.getK(), op.getMask(), op.getScale().convertToDouble(), op.getCausal()};
}
mlir::Value attentionScores(TensorBuilder &b, const AttentionScores &of);

/// Replaces -inf by the lowest finite number of the type: -inf - -inf would be NaN, whereas -inf
/// minus a finite number is -inf, and its exp is 0.
mlir::Value aboveNegativeInfinity(TensorBuilder &b, mlir::Value x);

/// Builds the attention weights, the left operand of the product with v: softmax(scale * q k^T
/// [masked]).
mlir::Value attentionWeights(TensorBuilder &b, const AttentionScores &of);
inline mlir::Value attentionWeights(TensorBuilder &b, AttentionOp op) {
  return attentionWeights(b, scoresOf(op));
}

/// Reshapes [C] to [C, 1, ..], which broadcasts along the channels of [N, C, ..].
mlir::Value perChannel(TensorBuilder &b, mlir::Value vector, int64_t rank);
/// Mean of each channel of x [N, C, ..], as [N, C, 1, ..].
mlir::Value channelMeans(TensorBuilder &b, mlir::Value x);
/// Mean of each group of channels of x [N, C, 1, ..], repeated for every channel of the group.
mlir::Value groupMeans(TensorBuilder &b, mlir::Value x, int64_t groups);
/// Mean and variance of each group of channels of x [N, C, ..], repeated for every channel of the
/// group: [N, C, 1, ..]. They are derived from the statistics of the single channels, so that `x`
/// is read in any layout without a reshape.
struct GroupStatistics {
  mlir::Value mean, variance;
};
GroupStatistics groupStatistics(TensorBuilder &b, mlir::Value x, int64_t groups);

/// For x [N, C, ..], sum over a window of `size` adjacent channels. The window of each channel
/// starts `before` channels earlier.
mlir::Value channelWindowSum(TensorBuilder &b, mlir::Value x, int64_t size, int64_t before);
/// Builds the base of the power in LRN: k + alpha / size * (sum of x^2 over the window of
/// channels). `x` has the type of statistics.
mlir::Value lrnBase(TensorBuilder &b, LrnOp op, mlir::Value x);

} // namespace dlc

#endif // DLC_PASSES_COMPOSITIONS_H
