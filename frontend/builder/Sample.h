//===- Sample.h - samples images at fractional coordinates ----------------===//
#ifndef DLC_FRONTEND_BUILDER_SAMPLE_H
#define DLC_FRONTEND_BUILDER_SAMPLE_H

#include "frontend/builder/Build.h"

namespace dlc::frontend {

/// Gathers elements of images x [B, C, spatial..] at integer coordinates. `places` has one i64
/// tensor [B, P] per spatial dimension, and the result is [B, C, P]. Coordinates outside the image
/// are clamped to the nearest element.
Value samplePoints(Build &b, Value x, ArrayRef<Value> places);

/// Samples images x [B, C, spatial..] at fractional coordinates [B, P] by linear interpolation, and
/// returns [B, C, P]. Elements outside the image count as zeros.
Value sampleLinear(Build &b, Value x, ArrayRef<Value> places);

/// Interpolation options of sampleGrid().
struct GridSampleOptions {
  std::string mode;    ///< interpolation: linear, nearest or cubic
  std::string padding; ///< for coordinates outside the image: zeros, border or reflection
  /// `align_corners`: whether the coordinates -1 and 1 refer to the centers of the corner elements
  /// instead of their outer edges.
  bool corners;
};
/// Samples images x [N, C, spatial..] at the coordinates of a grid [N, places.., spatial
/// dimensions], which are from -1 to 1. Returns [N, C, places..].
Value sampleGrid(Build &b, Value x, Value grid, const GridSampleOptions &how);

/// Returns a bool mask of the integer coordinates that are in [0, extent).
Value isInside(Build &b, Value place, int64_t extent);

} // namespace dlc::frontend

#endif // DLC_FRONTEND_BUILDER_SAMPLE_H
