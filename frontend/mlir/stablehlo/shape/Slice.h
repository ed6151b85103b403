//===- Slice.h - interior padding, and casts and clamps of indices --------------===//
#ifndef DLC_FRONTEND_MLIR_STABLEHLO_SHAPE_SLICE_H
#define DLC_FRONTEND_MLIR_STABLEHLO_SHAPE_SLICE_H

#include "frontend/mlir/stablehlo/Node.h"

namespace dlc::stablehlo {

/// Interior padding: returns x with `interior` copies of a scalar inserted between adjacent
/// elements along an axis.
Value dilate(Build &b, Value x, Value scalar, int64_t axis, int64_t interior);

/// Casts indices to i32 or i64, the index types of dlc's gather and scatter operations.
Value castToIndexType(Build &b, Value indices);

/// Clamps indices to the range from 0 to `high`.
Value clampIndices(Build &b, Value indices, Value high);

} // namespace dlc::stablehlo

#endif // DLC_FRONTEND_MLIR_STABLEHLO_SHAPE_SLICE_H
