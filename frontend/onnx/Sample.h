//===- Sample.h - samples images at fractional coordinates ----------------===//
#ifndef DLC_FRONTEND_ONNX_SAMPLE_H
#define DLC_FRONTEND_ONNX_SAMPLE_H

#include "frontend/onnx/Build.h"

namespace dlc::onnxfront {

/// Reads x [B, C, spatial..] at integer coordinates (one i64 [B, P] per spatial dimension) and
/// returns [B, C, P]. Coordinates outside the image are clamped to the nearest element.
Value samplePoints(Build &b, Value x, ArrayRef<Value> places);

/// Reads x [B, C, spatial..] at float coordinates [B, P] by linear interpolation and returns [B, C,
/// P]. Elements outside the image are zeros.
Value sampleLinear(Build &b, Value x, ArrayRef<Value> places);

/// Sampling options of an image between its elements.
struct GridReading {
  std::string mode;    ///< linear, nearest or cubic
  std::string padding; ///< padding of coordinates outside the image: zeros, border or reflection
  /// Whether -1 and 1 are the centers of the corner elements instead of their outer edges
  /// (`align_corners`).
  bool corners;
};
/// Samples x [N, C, spatial..] at a grid [N, places.., spatial dimensions] with coordinates from -1
/// to 1, and returns [N, C, places..].
Value sampleGrid(Build &b, Value x, Value grid, const GridReading &how);

/// Returns a bool mask of the integer coordinates that are inside an image.
Value isInside(Build &b, Value place, int64_t extent);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_SAMPLE_H
