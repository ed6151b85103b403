//===- Convolution.h - a convolution in parts, described and run ----------------===//
#ifndef DLC_RUNTIME_LIBRARY_TILES_CONVOLUTION_H
#define DLC_RUNTIME_LIBRARY_TILES_CONVOLUTION_H

#include "dlc/Export.h"
#include "runtime/library/tiles/Kernel.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace dlc::runtime {
class LibraryCall;
struct BufferInfo;
} // namespace dlc::runtime

namespace dlc::tiles {

/// dst[n, y, x, o] = post-ops(sum over r, s, c of src[n, y·stride + r·dilation - pad, .., c] ·
/// weights[o, c, r, s] + bias[o]); pixels outside of src are 0.
///
///   {"kind": "convolution", "parts": 2, "src": [n, c, h, w], "dst": [n, o, h, w], "window": [r,
///   s],
///    "strides": [..], "dilations": [..], "pads": [before h, before w], "weights": "plain" or
///    "packed", "turned": false, "bias": true, "post_ops": as a product's, with "strides": [pixel,
///    channel]}
///
/// All of f32, src, dst and operands with channels last. "turned": weights are [c, o, r, s] and the
/// window comes from its end, which makes it the gradient by the data of a convolution without
/// strides. Buffers: src, weights, [bias], dst, one for each binary post-op.
struct DLC_EXPORT Convolution {
  int64_t count = 0, channels = 0, height = 0, width = 0;
  int64_t features = 0, outHeight = 0, outWidth = 0;
  int64_t window[2] = {}, strides[2] = {}, dilations[2] = {}, pads[2] = {};
  int parts = 2;
  bool isPacked = false, isTurned = false, hasBias = false;
  Epilogue epilogue; ///< without addresses
  std::vector<std::vector<int64_t>> operandStrides;

  /// Throws dlc::Error.
  static Convolution parse(const nlohmann::json &desc);

  /// Few channels: a row of the window makes one sum, and a pixel takes its neighbours along.
  bool unfoldsRows() const;
  int64_t depth() const { return unfoldsRows() ? window[1] * channels : channels; }
  int64_t taps() const { return unfoldsRows() ? window[0] : window[0] * window[1]; }
  uint64_t packedBytes() const;
  void packWeights(const float *weights, void *packed, int threads) const;
};

std::unique_ptr<runtime::LibraryCall> makeConvolution(const nlohmann::json &desc,
                                                      std::span<const runtime::BufferInfo> buffers,
                                                      int threads);

} // namespace dlc::tiles

#endif // DLC_RUNTIME_LIBRARY_TILES_CONVOLUTION_H
