//===- Attend.h - scores, masks and weights of fused attention ------------===//
#ifndef DLC_FRONTEND_ONNX_CONTRIB_ATTEND_H
#define DLC_FRONTEND_ONNX_CONTRIB_ATTEND_H

#include "frontend/onnx/Families.h"

namespace dlc::onnxfront {

/// softmax(scale * q k^T + added, where seen) v, of q [B, heads, T, D], k [B, heads, S, D] and
/// v [B, heads, S, E].
struct Attend {
  Value q, k, v;
  double scale = 1;
  /// Added to the scores; broadcasts to [B, heads, T, S]. May be null.
  Value added;
  /// Which scores count, as bool; broadcasts as `added` does. May be null: all do.
  Value seen;
  /// Nothing but: key s counts for query t where s <= t.
  bool causal = false;
  /// Scores s become softcap * tanh(s / softcap). 0: they do not.
  double softcap = 0;
  /// One more score per head [1, heads, 1, 1], whose weight goes nowhere. May be null.
  Value sink;
};

/// [B, heads, T, E]
Value attend(Build &b, const Attend &a);

/// Whether key s counts for query `past` + t: [1, 1, T, S].
Value causalMask(Build &b, int64_t T, int64_t S, int64_t past);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_CONTRIB_ATTEND_H
