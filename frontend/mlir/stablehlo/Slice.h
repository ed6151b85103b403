//===- Slice.h - padding between elements, and indices --------------------------===//
#ifndef DLC_FRONTEND_MLIR_STABLEHLO_SLICE_H
#define DLC_FRONTEND_MLIR_STABLEHLO_SLICE_H

#include "frontend/mlir/stablehlo/Node.h"

namespace dlc::stablehlo {

/// Returns x with `interior` copies of a scalar between neighboring elements along an axis.
Value dilate(Build &b, Value x, Value scalar, int64_t axis, int64_t interior);

/// Casts indices to i32 or i64, which gathers and scatters accept.
Value asIndices(Build &b, Value indices);

/// Clamps indices to 0..high.
Value clampIndices(Build &b, Value indices, Value high);

} // namespace dlc::stablehlo

#endif // DLC_FRONTEND_MLIR_STABLEHLO_SLICE_H
