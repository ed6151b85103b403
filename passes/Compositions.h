//===- Compositions.h - layers spelled out, for more than one pass --------===//
#ifndef DLC_PASSES_COMPOSITIONS_H
#define DLC_PASSES_COMPOSITIONS_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// The type that statistics of a value are kept in: f32 for the 16-bit floats.
mlir::Type statisticsType(mlir::Value x);

/// softmax(x) along some axes, in x's element type. Rows that are -inf throughout give 0 where
/// `hidden` says that there may be such, and NaN else.
mlir::Value softmaxOf(TensorBuilder &b, mlir::Value x, llvm::ArrayRef<int64_t> axes, bool hidden);

/// Attention's scores before their softmax, in the type of statistics: scale * q k^T + mask, -inf
/// where hidden.
struct AttentionScores {
  mlir::Value q, k, mask;
  double scale;
  bool causal;
};
template <typename Op> AttentionScores scoresOf(Op op) {
  return {op.getQ(), op.getK(), op.getMask(), op.getScale().convertToDouble(), op.getCausal()};
}
mlir::Value attentionScores(TensorBuilder &b, const AttentionScores &of);

/// The lowest number in the place of -inf: -inf less it is -inf, and exp of that 0.
mlir::Value aboveNegativeInfinity(TensorBuilder &b, mlir::Value x);

/// What attention multiplies v with: softmax(scale * q k^T [masked]).
mlir::Value attentionWeights(TensorBuilder &b, const AttentionScores &of);
inline mlir::Value attentionWeights(TensorBuilder &b, AttentionOp op) {
  return attentionWeights(b, scoresOf(op));
}

/// [C] as [C, 1, ..] so that it broadcasts along the channels of [N, C, ..].
mlir::Value perChannel(TensorBuilder &b, mlir::Value vector, int64_t rank);
/// For x [N, C, ..] each channel's mean, [N, C, 1, ..].
mlir::Value channelMeans(TensorBuilder &b, mlir::Value x);
/// For x [N, C, 1, ..] the mean of each group of channels, at each of them.
mlir::Value groupMeans(TensorBuilder &b, mlir::Value x, int64_t groups);
/// Mean and variance of each group of channels of x [N, C, ..], at each channel: [N, C, 1, ..].
/// They come of the channels' own, so that x is read in whatever layout it has.
struct GroupStatistics {
  mlir::Value mean, variance;
};
GroupStatistics groupStatistics(TensorBuilder &b, mlir::Value x, int64_t groups);

/// For x [N, C, ..] the sum over `size` neighbouring channels, of which `before` precede each.
mlir::Value channelWindowSum(TensorBuilder &b, mlir::Value x, int64_t size, int64_t before);
/// k + alpha / size * the sum of x^2 over neighbouring channels; x in the type of statistics.
mlir::Value lrnBase(TensorBuilder &b, LrnOp op, mlir::Value x);

} // namespace dlc

#endif // DLC_PASSES_COMPOSITIONS_H
