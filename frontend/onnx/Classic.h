//===- Classic.h - helpers for classical machine-learning operators -------===//
#ifndef DLC_FRONTEND_ONNX_CLASSIC_H
#define DLC_FRONTEND_ONNX_CLASSIC_H

#include "frontend/onnx/Node.h"

namespace dlc::onnxfront {

/// The domain of classical machine-learning operators.
inline constexpr const char *classicDomain = "ai.onnx.ml";

/// Casts x to the type in which classical models compute: f32 for integers and 16-bit floats.
Value features(Build &b, Value x);
/// Applies the attribute `post_transform` to the scores [N, C].
Value transformed(Node &n, Build &b, Value scores);
/// Returns for each row the index of the first maximum score.
Value bestClass(Build &b, Value scores);
/// Returns the number of classes that the attributes name. For classes named by strings only the
/// scores are set.
int64_t numClasses(Node &n, StringRef integers);
/// Sets the first output to the labels [N] of these class indices.
void setLabels(Node &n, Build &b, StringRef integers, Value classes);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_CLASSIC_H
