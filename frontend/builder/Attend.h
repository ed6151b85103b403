//===- Attend.h - attention with masks, and rotary embedding --------------===//
#ifndef DLC_FRONTEND_BUILDER_ATTEND_H
#define DLC_FRONTEND_BUILDER_ATTEND_H

#include "frontend/builder/Build.h"

namespace dlc::frontend {

/// Operands and settings of attention: softmax(scale * q k^T + added) v with scores masked by
/// `seen`, for q [B, heads, T, D], k [B, heads, S, D] and v [B, heads, S, E].
struct AttentionOperands {
  Value q, k, v;
  double scale = 1;
  /// Additive attention bias: added to the scores, broadcast to [B, heads, T, S]. May be null.
  Value added;
  /// Boolean attention mask, broadcast to [B, heads, T, S]: false for the scores that are masked.
  /// Null means that no score is masked.
  Value seen;
  /// Whether a causal mask without offset is applied: query t attends to the keys s <= t.
  bool causal = false;
  /// Soft cap of the scores: a score s becomes softcap * tanh(s / softcap). 0 disables it.
  double softcap = 0;
  /// Attention sink: an additional score per head [1, heads, 1, 1] that is included in the softmax
  /// but has no value. May be null.
  Value sink;
};

/// Builds the attention and returns its output [B, heads, T, E].
Value buildAttention(Build &b, const AttentionOperands &a);

/// Returns a causal mask [1, 1, T, S] with an offset: query t attends to the keys s <= past + t.
Value buildCausalMask(Build &b, int64_t T, int64_t S, int64_t past);

/// Rotary embedding: rotates the first 2 * half elements of each row of x [B, heads, T, D] by
/// angles whose cosines and sines are [B or 1, T, half]. Pairs are adjacent elements if
/// `interleaved` is set; otherwise pair i consists of elements i and i + half.
Value applyRotaryEmbedding(Build &b, Value x, Value cosines, Value sines, bool interleaved);

} // namespace dlc::frontend

#endif // DLC_FRONTEND_BUILDER_ATTEND_H
