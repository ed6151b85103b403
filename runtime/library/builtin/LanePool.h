//===- LanePool.h - pooling of images in vectors of channels --------------===//
//
// The files compiled for one architecture include this header, so it contains
// no inline functions.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_BUILTIN_LANEPOOL_H
#define DLC_RUNTIME_LIBRARY_BUILTIN_LANEPOOL_H

#include <stdint.h>

namespace dlc::runtime::builtin {

/// Strides in elements between images, groups of channels, rows and pixels. The channels of a group
/// are adjacent.
struct LanePitches {
  int64_t image = 0, group = 0, row = 0, pixel = 0;
};

/// Returns the strides of images of `size` pixels, with `groups` groups of `channels` channels
/// each.
LanePitches lanePitches(int64_t groups, int64_t channels, const int64_t *size);

/// Taps of a window that are inside of the image along one dimension: `count` taps, beginning with
/// tap `tap` at element `offset`. Along the first dimension, tap numbers are multiples of the
/// window's row length.
struct LaneTapRange {
  int64_t offset;
  int32_t tap, count;
  float part; ///< 1 / number of elements that the average counts
};

/// Window that contains a source pixel, along one dimension: the element of the window's result,
/// the tap that reads the pixel, and 1 / number of elements that the average counts.
struct LaneWindow {
  int64_t offset;
  int32_t tap;
  float part;
};

struct LanePool {
  int64_t groups = 0, channels = 0; ///< number of groups, and of channels of a group
  int64_t size[2] = {}, outSize[2] = {}, kernel[2] = {};
  int64_t step[2] = {}; ///< stride between two taps, in elements
  /// Use non-temporal stores for a gradient that exceeds the caches. Its pixels must be aligned to
  /// a register.
  bool nonTemporal = false;
  LanePitches src, dst;
  const LaneTapRange *reaches[2] = {}; ///< for each output coordinate: taps inside the image
  const LaneWindow *visits[2] = {};    ///< windows of all source coordinates, contiguous
  const int64_t *visitsFrom[2] = {};   ///< first visit of each source coordinate, then the end
};

/// Each kernel computes the rows [begin, end), numbered across all groups of all images: rows of
/// results, or rows of the source's gradient.
struct LanePoolKernels {
  /// Computes max pooling and, unless `positions` is null, the positions of the maxima. NaN is the
  /// largest value. Of equal maxima, the first one is taken.
  void (*max)(const LanePool &pool, const float *src, float *dst, uint8_t *positions, int64_t begin,
              int64_t end);
  /// maxBytes and maxSignedBytes compute max pooling of u8 and i8 with at least 8 channels.
  void (*maxBytes)(const LanePool &pool, const uint8_t *src, uint8_t *dst, int64_t begin,
                   int64_t end);
  void (*maxSignedBytes)(const LanePool &pool, const uint8_t *src, uint8_t *dst, int64_t begin,
                         int64_t end);
  void (*average)(const LanePool &pool, const float *src, float *dst, int64_t begin, int64_t end);
  void (*maxGradient)(const LanePool &pool, const float *dy, const uint8_t *positions, float *dx,
                      int64_t begin, int64_t end);
  void (*averageGradient)(const LanePool &pool, const float *dy, float *dx, int64_t begin,
                          int64_t end);
  int lanes;
};

extern const LanePoolKernels lanePoolScalar, lanePoolAvx2, lanePoolAvx512;

} // namespace dlc::runtime::builtin

#endif // DLC_RUNTIME_LIBRARY_BUILTIN_LANEPOOL_H
