//===- Attend.h - scores, masks and weights of fused attention ------------===//
#ifndef DLC_FRONTEND_ONNX_CONTRIB_ATTEND_H
#define DLC_FRONTEND_ONNX_CONTRIB_ATTEND_H

#include "frontend/onnx/Families.h"

namespace dlc::onnxfront {

/// Attention: softmax(scale * q k^T + added) v with the scores masked by `seen`, for q [B, heads,
/// T, D], k [B, heads, S, D] and v [B, heads, S, E].
struct Attend {
  Value q, k, v;
  double scale = 1;
  /// Bias added to the scores. Broadcasts to [B, heads, T, S]. May be null.
  Value added;
  /// Bool mask of the visible scores. Broadcasts like `added`. Null means that all are visible.
  Value seen;
  /// Causal mask without offset: query t sees key s if s <= t.
  bool causal = false;
  /// Scores s become softcap * tanh(s / softcap). 0 disables the cap.
  double softcap = 0;
  /// An additional score per head [1, heads, 1, 1] that takes part in the softmax but has no value
  /// (attention sink). May be null.
  Value sink;
};

/// Returns the attention output [B, heads, T, E].
Value attend(Build &b, const Attend &a);

/// Mask [1, 1, T, S] of the keys s that query `past` + t sees.
Value causalMask(Build &b, int64_t T, int64_t S, int64_t past);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_CONTRIB_ATTEND_H
