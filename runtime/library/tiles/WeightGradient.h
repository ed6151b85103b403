//===- WeightGradient.h - a convolution's gradient by its weights, in bf16 ------===//
#ifndef DLC_RUNTIME_LIBRARY_TILES_WEIGHTGRADIENT_H
#define DLC_RUNTIME_LIBRARY_TILES_WEIGHTGRADIENT_H

#include "runtime/library/describe/Convolution.h"

namespace dlc::tiles {

/// dst[o, c, r, s] = sum over n, y, x of diff_dst[n, y, x, o] ·
/// src[n, y·stride + r·dilation - pad, .., c]; pixels outside of src are 0.
///
///   {"kind": "weight_gradient", "src": [n, c, h, w], "diff_dst": [n, o, h, w], "window": [r, s],
///    "strides": [..], "dilations": [..], "pads": [before h, before w]}
///
/// src and diff_dst of bf16 with channels last, dst of f32 in the plain order: what is summed is
/// rounded nowhere. Buffers: src, diff_dst, dst.
struct DLC_EXPORT WeightGradient : describe::Convolution {
  /// Throws dlc::Error.
  static WeightGradient parse(const nlohmann::json &desc);
};

std::unique_ptr<runtime::LibraryCall>
makeWeightGradient(const nlohmann::json &desc, std::span<const runtime::BufferInfo> buffers,
                   int threads);

} // namespace dlc::tiles

#endif // DLC_RUNTIME_LIBRARY_TILES_WEIGHTGRADIENT_H
