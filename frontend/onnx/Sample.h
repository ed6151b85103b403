//===- Sample.h - reading images at fractional places ---------------------===//
#ifndef DLC_FRONTEND_ONNX_SAMPLE_H
#define DLC_FRONTEND_ONNX_SAMPLE_H

#include "frontend/onnx/Build.h"

namespace dlc::onnxfront {

/// x [B, C, spatial..] at integer places (one i64 [B, P] per spatial dimension), as [B, C, P];
/// places outside read the nearest element.
Value samplePoints(Build &b, Value x, ArrayRef<Value> places);

/// x [B, C, spatial..] at float places [B, P] by linear interpolation, as [B, C, P]; outside are
/// zeros.
Value sampleLinear(Build &b, Value x, ArrayRef<Value> places);

/// How images are read between their elements.
struct GridReading {
  std::string mode;    ///< linear, nearest or cubic
  std::string padding; ///< of places outside: zeros, border or reflection
  /// -1 and 1 are the centres of the elements at the corners, instead of their outer edges.
  bool corners;
};
/// x [N, C, spatial..] at a grid [N, places.., spatial dimensions] of -1 to 1, as [N, C, places..].
Value sampleGrid(Build &b, Value x, Value grid, const GridReading &how);

/// Whether integer places lie inside an image, as bool.
Value isInside(Build &b, Value place, int64_t extent);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_SAMPLE_H
