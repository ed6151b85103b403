//===- Compositions.h - layers composed from simpler dlc operations -------===//
#ifndef DLC_PASSES_COMPOSITIONS_H
#define DLC_PASSES_COMPOSITIONS_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// Returns the element type in which statistics (mean, variance) of `x` are computed: f32 for f16
/// and bf16, otherwise the element type of `x`.
mlir::Type statisticsType(mlir::Value x);

/// Builds softmax(x) along `axes`, in the element type of `x`. For a row in which all elements are
/// -inf, the result is 0 if `hidden` is set (a mask may hide whole rows), and NaN otherwise.
mlir::Value buildSoftmax(TensorBuilder &b, mlir::Value x, llvm::ArrayRef<int64_t> axes,
                         bool hidden);

/// Operands and attributes of the attention scores before the softmax: scale * q k^T + mask, with
/// -inf at masked positions. The scores are computed in the element type that statisticsType()
/// returns.
struct AttentionScoreOperands {
  mlir::Value q, k, mask;
  double scale;
  bool causal;
};
template <typename Op> AttentionScoreOperands getScoreOperands(Op op) {
  return {op.getQ(), op.getK(), op.getMask(), op.getScale().convertToDouble(), op.getCausal()};
}
mlir::Value buildAttentionScores(TensorBuilder &b, const AttentionScoreOperands &of);

/// Replaces -inf by the lowest finite number of the element type, as a row maximum that is
/// subtracted before exp(): -inf - -inf would be NaN, whereas -inf minus a finite number is -inf,
/// and its exp is 0.
mlir::Value clampNegativeInfinity(TensorBuilder &b, mlir::Value x);

/// Builds the attention weights, which are multiplied by v: softmax(scale * q k^T [masked]).
mlir::Value buildAttentionWeights(TensorBuilder &b, const AttentionScoreOperands &of);
inline mlir::Value buildAttentionWeights(TensorBuilder &b, AttentionOp op) {
  return buildAttentionWeights(b, getScoreOperands(op));
}

/// Reshapes a vector [C] to [C, 1, ..], so that it broadcasts along the channels of [N, C, ..].
mlir::Value reshapeToChannels(TensorBuilder &b, mlir::Value vector, int64_t rank);
/// Builds the mean of each channel of x [N, C, ..], as [N, C, 1, ..].
mlir::Value buildChannelMeans(TensorBuilder &b, mlir::Value x);
/// Builds the mean of each group of channels of x [N, C, 1, ..], and repeats it for every channel
/// of the group.
mlir::Value buildGroupMeans(TensorBuilder &b, mlir::Value x, int64_t groups);
/// Mean and variance of each group of channels of x [N, C, ..], repeated for every channel of the
/// group: [N, C, 1, ..]. Both are derived from the statistics of the single channels, so that `x`
/// is read in any layout without a reshape.
struct GroupStatistics {
  mlir::Value mean, variance;
};
GroupStatistics buildGroupStatistics(TensorBuilder &b, mlir::Value x, int64_t groups);

/// Builds, for each channel of x [N, C, ..], the sum over a window of `size` adjacent channels. The
/// window starts `before` channels earlier.
mlir::Value buildChannelWindowSum(TensorBuilder &b, mlir::Value x, int64_t size, int64_t before);
/// Builds the base of the power in local response normalization (LRN): k + alpha / size * (sum of
/// x^2 over the window of channels). `x` has the element type that statisticsType() returns.
mlir::Value buildLrnDenominator(TensorBuilder &b, LrnOp op, mlir::Value x);

} // namespace dlc

#endif // DLC_PASSES_COMPOSITIONS_H
