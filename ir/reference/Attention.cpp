//===- Attention.cpp - scaled dot-product attention -----------------------===//
#include "ir/dlc/Dialect.h"
#include "ir/reference/Rows.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace dlc {
using namespace ref;

/// Replaces scores by their softmax. Where everything is hidden nothing is attended to: all weights
/// are 0.
static void softmaxInPlace(std::vector<double> &scores) {
  double largest = -HUGE_VAL, sum = 0;
  for (double score : scores)
    largest = maxOf(largest, score);
  if (largest == -HUGE_VAL) {
    std::fill(scores.begin(), scores.end(), 0.0);
    return;
  }
  for (double &score : scores)
    sum += score = std::exp(score - largest);
  for (double &score : scores)
    score /= sum;
}

LogicalResult AttentionOp::evaluate(Inputs inputs, Outputs outputs) {
  const Tensor &q = inputs[0], &k = inputs[1], &v = inputs[2];
  ArrayRef<int64_t> batch = q.getShape().drop_back(2);
  const int64_t T = q.getShape().drop_back().back(), D = q.getShape().back();
  const int64_t S = k.getShape().drop_back().back(), E = v.getShape().back();
  const int64_t batches = product(batch);
  if (k.size() != batches * S * D || v.size() != batches * S * E)
    return emitOpError("(C2) q and k do not agree in D, or k and v not in S");
  Shape shape(q.getShape());
  shape.back() = E;
  Tensor y = makeResult(getY(), shape, q.getElementType());

  // The mask as numbers to add, stretched to [batch.., T, S].
  std::vector<double> mask(batches * T * S, 0.0);
  if (getMask()) {
    Shape scores(batch);
    scores.append({T, S});
    const Tensor &given = inputs[3];
    Tensor wide = Tensor::empty(RankedTensorType::get(scores, given.getElementType()));
    copyStrided(given, 0, broadcastStrides(given.getShape(), scores), wide);
    mask = loadAll<double>(wide);
    if (!given.isFloat())
      for (double &m : mask)
        m = m != 0 ? 0.0 : -HUGE_VAL;
  }

  const double scale = getScale().convertToDouble();
  const bool causal = getCausal();
  const std::vector<double> queries = loadAll<double>(q), keys = loadAll<double>(k);
  const std::vector<double> values = loadAll<double>(v);
  std::vector<double> scores(S), sums(E);
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t t = 0; t < T; ++t) {
      const double *query = queries.data() + (b * T + t) * D;
      for (int64_t s = 0; s < S; ++s) {
        const double *key = keys.data() + (b * S + s) * D;
        double dot = 0;
        for (int64_t d = 0; d < D; ++d)
          dot += query[d] * key[d];
        const double bias = mask[(b * T + t) * S + s];
        // Hidden is hidden, whatever the product (it may be NaN or infinite).
        scores[s] = (causal && s > t) || bias == -HUGE_VAL ? -HUGE_VAL : scale * dot + bias;
      }
      softmaxInPlace(scores);
      std::fill(sums.begin(), sums.end(), 0.0);
      for (int64_t s = 0; s < S; ++s)
        for (int64_t e = 0; e < E && scores[s] != 0; ++e)
          sums[e] += scores[s] * values[(b * S + s) * E + e];
      storeRow<double>(y, (b * T + t) * E, E, sums.data());
    }
  outputs.push_back(y);
  return success();
}

} // namespace dlc
