//===- LanePool.h - pooling of images, many channels at a time ----------------===//
//
// Shared with code compiled for one kind of processor: nothing in it is inline.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_BUILTIN_LANEPOOL_H
#define DLC_RUNTIME_LIBRARY_BUILTIN_LANEPOOL_H

#include <stdint.h>

namespace dlc::runtime::builtin {

/// Elements from one image, group of channels, row and pixel to the next. Channels of a group lie
/// side by side.
struct LanePitches {
  int64_t image = 0, group = 0, row = 0, pixel = 0;
};

/// Of images of so many pixels, with groups of so many channels.
LanePitches lanePitches(int64_t groups, int64_t channels, const int64_t *size);

/// The taps of a window that are inside along one dimension: `count` of them, the first as tap
/// `tap` at element `offset`, a step apart. Taps along columns are counted in whole rows of a
/// window.
struct LaneReach {
  int64_t offset;
  int32_t tap, count;
  float part; ///< one by how many count
};

/// A window that a pixel of the source lies in along one dimension: the element of its result, the
/// tap as which it does, and the part that counts.
struct LaneVisit {
  int64_t offset;
  int32_t tap;
  float part;
};

struct LanePool {
  int64_t groups = 0, channels = 0; ///< so many groups of so many channels
  int64_t size[2] = {}, outSize[2] = {}, kernel[2] = {};
  int64_t step[2] = {}; ///< elements from tap to tap
  /// A gradient that no cache holds, whose pixels are aligned to a register, is stored past the
  /// caches.
  bool storesPast = false;
  LanePitches src, dst;
  const LaneReach *reaches[2] = {};  ///< of each output coordinate
  const LaneVisit *visits[2] = {};   ///< of all source coordinates, one after the other
  const int64_t *visitsFrom[2] = {}; ///< where those of each begin; one more at the end
};

/// Each does rows [begin, end), of all images' groups' rows: of results, gradients of the source.
struct LanePoolKernels {
  /// `positions` may be null. NaN is the largest; of equal ones the first counts.
  void (*max)(const LanePool &pool, const float *src, float *dst, uint8_t *positions, int64_t begin,
              int64_t end);
  /// Of at least 8 channels of one byte each.
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

extern const LanePoolKernels lanePoolAvx2, lanePoolAvx512;

} // namespace dlc::runtime::builtin

#endif // DLC_RUNTIME_LIBRARY_BUILTIN_LANEPOOL_H
