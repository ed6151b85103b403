//===- WeightGradient.h - a convolution's gradient by its weights, in bf16 ------===//
#ifndef DLC_RUNTIME_LIBRARY_TILES_WEIGHTGRADIENT_H
#define DLC_RUNTIME_LIBRARY_TILES_WEIGHTGRADIENT_H

#include "dlc/Export.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <span>

namespace dlc::runtime {
class LibraryCall;
struct BufferInfo;
} // namespace dlc::runtime

namespace dlc::tiles {

/// dst[o, c, r, s] = sum over n, y, x of diff_dst[n, y, x, o] ·
/// src[n, y·stride + r·dilation - pad, .., c]; pixels outside of src are 0.
///
///   {"kind": "weight_gradient", "src": [n, c, h, w], "diff_dst": [n, o, h, w], "window": [r, s],
///    "strides": [..], "dilations": [..], "pads": [before h, before w]}
///
/// src and diff_dst of bf16 with channels last, dst of f32 in the plain order: what is summed is
/// rounded nowhere. Buffers: src, diff_dst, dst.
struct DLC_EXPORT WeightGradient {
  int64_t count = 0, channels = 0, height = 0, width = 0;
  int64_t features = 0, outHeight = 0, outWidth = 0;
  int64_t window[2] = {}, strides[2] = {}, dilations[2] = {}, pads[2] = {};

  /// Throws dlc::Error.
  static WeightGradient parse(const nlohmann::json &desc);

  int64_t taps() const { return window[0] * window[1]; }
  /// Whether pixels meet those of the same place alone.
  bool isFlat() const;
};

std::unique_ptr<runtime::LibraryCall>
makeWeightGradient(const nlohmann::json &desc, std::span<const runtime::BufferInfo> buffers,
                   int threads);

} // namespace dlc::tiles

#endif // DLC_RUNTIME_LIBRARY_TILES_WEIGHTGRADIENT_H
