//===- Classic.h - what models of classic machine learning share ----------===//
#ifndef DLC_FRONTEND_ONNX_CLASSIC_H
#define DLC_FRONTEND_ONNX_CLASSIC_H

#include "frontend/onnx/Node.h"

namespace dlc::onnxfront {

/// What stands in the domain of classic machine learning.
inline constexpr const char *classicDomain = "ai.onnx.ml";

/// x as models compute with it: f32 for integers and 16-bit floats.
Value features(Build &b, Value x);
/// The scores [N, C] after the attribute 'post_transform'.
Value transformed(Node &n, Build &b, Value scores);
/// The class of each row: that of the first largest score.
Value bestClass(Build &b, Value scores);
/// How many classes the attributes name; of those whose names are strings only the scores are set.
int64_t numClasses(Node &n, StringRef integers);
/// Sets the first output: the names of the classes [N] with these numbers.
void setLabels(Node &n, Build &b, StringRef integers, Value classes);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_CLASSIC_H
