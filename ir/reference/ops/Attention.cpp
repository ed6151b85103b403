//===- Attention.cpp - reference evaluation of attention ------------------===//
#include "ir/dlc/Dialect.h"
#include "ir/reference/Rows.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace dlc {
using namespace ref;

namespace {

/// Sizes of the operands of attention.
struct AttentionSizes {
  int64_t batches, T, S, D, E;
};

struct ScoreOperands {
  std::vector<double> queries, keys;
  std::vector<double> mask; ///< additive mask, broadcast to [batch.., T, S]
  AttentionSizes size;
  double scale;
  bool causal;

  /// Computes the attention scores of one query row. A masked score is minus infinity, even if the
  /// dot product is NaN or infinite.
  void row(int64_t b, int64_t t, std::vector<double> &scores) const {
    const double *query = queries.data() + (b * size.T + t) * size.D;
    for (int64_t s = 0; s < size.S; ++s) {
      const double *key = keys.data() + (b * size.S + s) * size.D;
      double dot = 0;
      for (int64_t d = 0; d < size.D; ++d)
        dot += query[d] * key[d];
      const double bias = mask[(b * size.T + t) * size.S + s];
      scores[s] = (causal && s > t) || bias == -HUGE_VAL ? -HUGE_VAL : scale * dot + bias;
    }
  }
};

ScoreOperands readScoreOperands(const Tensor &q, const Tensor &k, const Tensor &v,
                                const Tensor *given, double scale, bool causal) {
  ArrayRef<int64_t> batch = q.getShape().drop_back(2);
  AttentionSizes size{multiplyDims(batch), q.getShape().drop_back().back(),
                      k.getShape().drop_back().back(), q.getShape().back(), v.getShape().back()};
  std::vector<double> mask(size.batches * size.T * size.S, 0.0);
  if (given) {
    Shape scores(batch);
    scores.append({size.T, size.S});
    Tensor wide = Tensor::empty(RankedTensorType::get(scores, given->getElementType()));
    copyStrided(*given, 0, broadcastStrides(given->getShape(), scores), wide);
    mask = loadAll<double>(wide);
    if (!given->isFloat())
      for (double &m : mask)
        m = m != 0 ? 0.0 : -HUGE_VAL;
  }
  return {loadAll<double>(q), loadAll<double>(k), std::move(mask), size, scale, causal};
}

/// Replaces the scores of a row by their softmax, and returns their logsumexp. If all scores are
/// masked, all weights are 0.
double softmaxInPlace(std::vector<double> &scores) {
  double largest = -HUGE_VAL, sum = 0;
  for (double score : scores)
    largest = maxOf(largest, score);
  if (largest == -HUGE_VAL) {
    std::fill(scores.begin(), scores.end(), 0.0);
    return largest;
  }
  for (double &score : scores)
    sum += score = std::exp(score - largest);
  for (double &score : scores)
    score /= sum;
  return largest + std::log(sum);
}

/// Returns the attention result y, and appends the logsumexp of each query row to `lse`.
Tensor computeAttention(const ScoreOperands &from, const Tensor &v, Value declared,
                        std::vector<double> &lse) {
  const AttentionSizes &size = from.size;
  Shape shape(v.getShape());
  shape[shape.size() - 2] = size.T;
  Tensor y = makeResult(declared, shape, v.getElementType());
  const std::vector<double> values = loadAll<double>(v);
  std::vector<double> scores(size.S), sums(size.E);
  for (int64_t b = 0; b < size.batches; ++b)
    for (int64_t t = 0; t < size.T; ++t) {
      from.row(b, t, scores);
      lse.push_back(softmaxInPlace(scores));
      std::fill(sums.begin(), sums.end(), 0.0);
      for (int64_t s = 0; s < size.S; ++s)
        for (int64_t e = 0; e < size.E && scores[s] != 0; ++e)
          sums[e] += scores[s] * values[(b * size.S + s) * size.E + e];
      storeRow<double>(y, (b * size.T + t) * size.E, size.E, sums.data());
    }
  return y;
}

/// Checks the static sizes of k and v against q at evaluation, because inference skips dynamic
/// dimensions.
template <typename Op>
LogicalResult checkAttentionSizes(Op op, const AttentionSizes &size, Inputs inputs) {
  if (inputs[1].size() != size.batches * size.S * size.D ||
      inputs[2].size() != size.batches * size.S * size.E)
    return op.emitOpError("(C2) q and k have different D, or k and v different S");
  return success();
}

} // namespace

LogicalResult AttentionOp::evaluate(Inputs inputs, Outputs outputs) {
  ScoreOperands scores =
      readScoreOperands(inputs[0], inputs[1], inputs[2], getMask() ? &inputs[3] : nullptr,
                        getScale().convertToDouble(), getCausal());
  if (failed(checkAttentionSizes(*this, scores.size, inputs)))
    return failure();
  std::vector<double> lse;
  outputs.push_back(computeAttention(scores, inputs[2], getY(), lse));
  return success();
}

LogicalResult AttentionTrainOp::evaluate(Inputs inputs, Outputs outputs) {
  ScoreOperands scores =
      readScoreOperands(inputs[0], inputs[1], inputs[2], getMask() ? &inputs[3] : nullptr,
                        getScale().convertToDouble(), getCausal());
  if (failed(checkAttentionSizes(*this, scores.size, inputs)))
    return failure();
  std::vector<double> lse;
  outputs.push_back(computeAttention(scores, inputs[2], getY(), lse));
  Tensor sums =
      makeResult(getLse(), inputs[0].getShape().drop_back(), getLse().getType().getElementType());
  storeAll<double>(sums, lse);
  outputs.push_back(sums);
  return success();
}

LogicalResult AttentionGradOp::evaluate(Inputs inputs, Outputs outputs) {
  enum { Q, K, V, Y, Lse, Dy, Mask };
  const ScoreOperands from =
      readScoreOperands(inputs[Q], inputs[K], inputs[V], getMask() ? &inputs[Mask] : nullptr,
                        getScale().convertToDouble(), getCausal());
  const AttentionSizes &size = from.size;
  if (failed(checkAttentionSizes(*this, size, inputs)))
    return failure();
  const std::vector<double> values = loadAll<double>(inputs[V]), y = loadAll<double>(inputs[Y]);
  const std::vector<double> lse = loadAll<double>(inputs[Lse]), dy = loadAll<double>(inputs[Dy]);
  std::vector<double> dq(inputs[Q].size()), dk(inputs[K].size()), dv(inputs[V].size());
  std::vector<double> scores(size.S);
  for (int64_t b = 0; b < size.batches; ++b)
    for (int64_t t = 0; t < size.T; ++t) {
      const int64_t row = b * size.T + t;
      from.row(b, t, scores);
      double share = 0;
      for (int64_t e = 0; e < size.E; ++e)
        share += dy[row * size.E + e] * y[row * size.E + e];
      for (int64_t s = 0; s < size.S; ++s) {
        if (scores[s] == -HUGE_VAL)
          continue;
        const double p = std::exp(scores[s] - lse[row]);
        const int64_t key = b * size.S + s;
        double dp = 0;
        for (int64_t e = 0; e < size.E; ++e) {
          dp += dy[row * size.E + e] * values[key * size.E + e];
          dv[key * size.E + e] += p * dy[row * size.E + e];
        }
        const double ds = from.scale * p * (dp - share);
        for (int64_t d = 0; d < size.D; ++d) {
          dq[row * size.D + d] += ds * from.keys[key * size.D + d];
          dk[key * size.D + d] += ds * from.queries[row * size.D + d];
        }
      }
    }
  auto give = [&](Value declared, const Tensor &like, const std::vector<double> &numbers) {
    Tensor to = makeResult(declared, like.getShape(), like.getElementType());
    storeAll<double>(to, numbers);
    outputs.push_back(to);
  };
  give(getDq(), inputs[Q], dq);
  give(getDk(), inputs[K], dk);
  give(getDv(), inputs[V], dv);
  return success();
}

} // namespace dlc
