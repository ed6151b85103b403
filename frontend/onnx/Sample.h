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

/// Whether integer places lie inside an image, as bool.
Value isInside(Build &b, Value place, int64_t extent);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_SAMPLE_H
