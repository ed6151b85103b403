//===- Classic.h - helpers for classical machine-learning operators -------===//
#ifndef DLC_FRONTEND_ONNX_ML_CLASSIC_H
#define DLC_FRONTEND_ONNX_ML_CLASSIC_H

#include "frontend/onnx/Node.h"

namespace dlc::onnxfront {

/// The operator domain of classical machine-learning models, such as tree ensembles and support
/// vector machines.
inline constexpr const char *classicDomain = "ai.onnx.ml";

/// Casts x to the type in which classical models compute: f32 for integers and 16-bit floats.
Value features(Build &b, Value x);
/// Applies the attribute `post_transform` to the scores [N, C].
Value applyPostTransform(Node &n, Build &b, Value scores);
/// Returns, for each row of scores, the index of the maximum; of equal maxima the first.
Value buildArgmaxClass(Build &b, Value scores);
/// Returns the number of classes that the class-label attributes name. If the classes are named by
/// strings, the node can output only scores, because labels that are strings are not supported.
int64_t numClasses(Node &n, StringRef integers);
/// Sets the first output of the node to the integer labels [N] of the class indices `classes`.
void setLabels(Node &n, Build &b, StringRef integers, Value classes);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_ML_CLASSIC_H
