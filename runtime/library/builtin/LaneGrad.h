//===- LaneGrad.h - a depthwise convolution's gradient in its weights, in lanes ------===//
//
// Shared with code compiled for one kind of processor: nothing in it is inline.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_BUILTIN_LANEGRAD_H
#define DLC_RUNTIME_LIBRARY_BUILTIN_LANEGRAD_H

#include "runtime/library/builtin/LanePool.h"

namespace dlc::runtime::builtin {

struct LaneGrad {
  int64_t channels = 0; ///< that lie side by side
  int64_t vectors = 0;  ///< in each group of these; the last one ends with the group
  int64_t size[2] = {}, outSize[2] = {}, kernel[2] = {};
  int64_t stride[2] = {}, dilation[2] = {}, low[2] = {};
  LanePitches src, dst; ///< of x, of dy

  /// Where a vector's channels begin in their group.
  int64_t firstOf(int64_t vector, int64_t lanes) const {
    int64_t first = vector % vectors * lanes;
    return first + lanes > channels ? channels - lanes : first;
  }
};

struct LaneGradKernels {
  /// sums[tap][lane] of a vector of channels, over rows [begin, end) of dy, of all images.
  void (*sum)(const LaneGrad &grad, int64_t vector, const float *x, const float *dy, float *sums,
              int64_t begin, int64_t end);
  int lanes;
};

extern const LaneGradKernels laneGradAvx2, laneGradAvx512;

} // namespace dlc::runtime::builtin

#endif // DLC_RUNTIME_LIBRARY_BUILTIN_LANEGRAD_H
