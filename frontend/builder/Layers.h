//===- Layers.h - normalizations, and heads of attention ------------------===//
#ifndef DLC_FRONTEND_BUILDER_LAYERS_H
#define DLC_FRONTEND_BUILDER_LAYERS_H

#include "frontend/builder/Build.h"

namespace dlc::frontend {

/// Layer norm: normalizes x over the dimensions from `axis` on. Scale and bias may be null.
Value layerNorm(Build &b, Value x, Value scale, Value bias, int64_t axis, double eps);
Value groupNorm(Build &b, Value x, Value scale, Value bias, int64_t groups, double eps);
Value rmsNorm(Build &b, Value x, Value scale, int64_t axis, double eps);

/// Reshapes [B, T, heads * D] to [B, heads, T, D].
Value splitHeads(Build &b, Value x, int64_t heads);
Value joinHeads(Build &b, Value x);

/// Repeats each head of x [B, heads, ..] `times` times, as in grouped-query attention. The copies
/// of a head are adjacent.
Value repeatHeads(Build &b, Value x, int64_t times);

} // namespace dlc::frontend

#endif // DLC_FRONTEND_BUILDER_LAYERS_H
