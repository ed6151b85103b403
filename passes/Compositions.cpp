//===- Compositions.cpp - layers composed from simpler dlc operations -----===//
#include "passes/Compositions.h"

#include <limits>

using namespace mlir;

namespace dlc {

Type statisticsType(Value x) {
  Type element = typeOf(x).getElementType();
  return element.isF16() || element.isBF16() ? Float32Type::get(x.getContext()) : element;
}

Value clampNegativeInfinity(TensorBuilder &b, Value x) {
  auto type = llvm::cast<FloatType>(typeOf(x).getElementType());
  APFloat lowest = APFloat::getLargest(type.getFloatSemantics(), /*Negative=*/true);
  return b.make<MaxOp>(x, b.scalar(lowest.convertToDouble(), x));
}

Value buildSoftmax(TensorBuilder &b, Value input, ArrayRef<int64_t> axes, bool hidden) {
  Value x = b.cast(input, statisticsType(input));
  Value largest = b.reduce(ReduceKind::max, x, axes);
  if (hidden)
    largest = clampNegativeInfinity(b, largest);
  Value e = b.make<ExpOp>(b.make<SubOp>(x, largest));
  Value sum = b.reduce(ReduceKind::sum, e, axes);
  // In each row that is not fully masked, the largest element contributes exp(0) = 1 to the sum, so
  // that the maximum with 1 changes the sum of fully masked rows only.
  if (hidden)
    sum = b.make<MaxOp>(sum, b.scalar(1, x));
  // Normalizing by the reciprocal of the sum needs one division per row and one multiplication per
  // element.
  Value y = b.make<MulOp>(e, b.make<DivOp>(b.scalar(1, x), sum));
  return b.cast(y, typeOf(input).getElementType());
}

/// Builds a boolean mask that is true on and below the diagonal of [T, S]: key position s is no
/// later than query position t.
static Value buildCausalMask(TensorBuilder &b, Value scores) {
  ArrayRef<int64_t> shape = shapeOf(scores).take_back(2);
  auto type = RankedTensorType::get(shape, IntegerType::get(scores.getContext(), 64),
                                    deviceOf(scores.getType()));
  Value row = b.make<IotaOp>(type, /*axis=*/0);
  Value column = b.make<IotaOp>(type, /*axis=*/1);
  return b.make<CompareOp>(Predicate::ge, row, column);
}

Value buildAttentionScores(TensorBuilder &b, const AttentionScoreOperands &of) {
  // The scores remain in f32 after the matmul, because exp() would amplify the error of further
  // rounding to 16 bits.
  Value scores = b.cast(b.make<MatmulOp>(of.q, of.k, false, true), statisticsType(of.q));
  scores = b.make<MulOp>(scores, b.scalar(of.scale, scores));
  Value hidden = b.scalar(-std::numeric_limits<double>::infinity(), scores);
  if (of.causal)
    scores = b.make<SelectOp>(buildCausalMask(b, scores), scores, hidden);
  if (of.mask && typeOf(of.mask).getElementType().isInteger(1))
    scores = b.make<SelectOp>(of.mask, scores, hidden);
  else if (of.mask)
    scores = b.make<AddOp>(scores, b.cast(of.mask, statisticsType(of.mask)));
  return scores;
}

Value buildAttentionWeights(TensorBuilder &b, const AttentionScoreOperands &of) {
  Value scores = buildAttentionScores(b, of);
  // Only an explicit mask can hide a whole row. With causal masking, every row includes position 0.
  Value weights = buildSoftmax(b, scores, typeOf(scores).getRank() - 1, /*hidden=*/bool(of.mask));
  return b.cast(weights, typeOf(of.q).getElementType());
}

Value reshapeToChannels(TensorBuilder &b, Value vector, int64_t rank) {
  SmallVector<int64_t> shape(rank - 1, 1);
  shape[0] = shapeOf(vector)[0];
  return b.reshape(vector, shape);
}

Value buildChannelMeans(TensorBuilder &b, Value x) {
  int64_t rank = typeOf(x).getRank();
  return rank == 2 ? x
                   : b.reduce(ReduceKind::mean, x, llvm::to_vector(llvm::seq<int64_t>(2, rank)));
}

Value buildGroupMeans(TensorBuilder &b, Value x, int64_t groups) {
  int64_t N = shapeOf(x)[0], C = shapeOf(x)[1];
  if (groups == C)
    return x;
  SmallVector<int64_t> grouped{N, groups, C / groups};
  Value mean = b.reduce(ReduceKind::mean, b.reshape(x, grouped), 2);
  return b.reshape(b.broadcast(mean, grouped), shapeOf(x));
}

// Computes the statistics of groups from the means m and variances v of the channels. With M the
// mean of m over a group: variance = mean(v + (m - M)^2).
GroupStatistics buildGroupStatistics(TensorBuilder &b, Value x, int64_t groups) {
  auto square = [&](Value of) { return b.make<MulOp>(of, of); };
  Value m = buildChannelMeans(b, x), v = buildChannelMeans(b, square(b.make<SubOp>(x, m)));
  if (groups == shapeOf(x)[1])
    return {m, v};
  Value mean = buildGroupMeans(b, m, groups);
  return {mean, buildGroupMeans(b, b.make<AddOp>(v, square(b.make<SubOp>(m, mean))), groups)};
}

Value buildChannelWindowSum(TensorBuilder &b, Value x, int64_t size, int64_t before) {
  int64_t rank = typeOf(x).getRank();
  SmallVector<int64_t> low(rank, 0), high(rank, 0), start(rank, 0), one(rank, 1);
  low[1] = before;
  high[1] = size - 1 - before;
  Value padded = b.make<PadOp>(x, b.scalar(0, x), PadMode::constant, low, high);
  Value sum;
  for (int64_t i = 0; i < size; ++i) {
    start[1] = i;
    Value part = b.make<SliceOp>(padded, start, shapeOf(x), one);
    sum = sum ? b.make<AddOp>(sum, part) : part;
  }
  return sum;
}

Value buildLrnDenominator(TensorBuilder &b, LrnOp op, Value x) {
  int64_t size = op.getSize();
  Value sum = buildChannelWindowSum(b, b.make<MulOp>(x, x), size, (size - 1) / 2);
  Value scaled = b.make<MulOp>(sum, b.scalar(op.getAlpha().convertToDouble() / double(size), x));
  return b.make<AddOp>(scaled, b.scalar(op.getK().convertToDouble(), x));
}

} // namespace dlc
