//===- WeightGradient.h - weight gradient of a convolution in bf16 on tiles -===//
#ifndef DLC_RUNTIME_LIBRARY_TILES_WEIGHTGRADIENT_H
#define DLC_RUNTIME_LIBRARY_TILES_WEIGHTGRADIENT_H

#include "runtime/library/describe/Convolution.h"

namespace dlc::tiles {

/// Weight gradient of a convolution: dst[o, c, r, s] = sum over n, y, x of diff_dst[n, y, x, o] ·
/// src[n, y·stride + r·dilation - pad, .., c]; pixels outside of src are 0.
///
///   {"kind": "weight_gradient", "src": [n, c, h, w], "diff_dst": [n, o, h, w], "window": [r, s],
///    "strides": [..], "dilations": [..], "pads": [before h, before w]}
///
/// src and diff_dst are bf16 and stored channels last; dst is f32 in row-major order. The sums are
/// not rounded to bf16. The buffers are src, diff_dst, dst.
struct DLC_EXPORT WeightGradient : describe::Convolution {
  /// Parses the description of a weight gradient. Throws dlc::Error if it is not valid.
  static WeightGradient parse(const nlohmann::json &desc);
};

std::unique_ptr<runtime::LibraryCall>
makeWeightGradient(const nlohmann::json &desc, std::span<const runtime::BufferInfo> buffers,
                   int threads);

} // namespace dlc::tiles

#endif // DLC_RUNTIME_LIBRARY_TILES_WEIGHTGRADIENT_H
