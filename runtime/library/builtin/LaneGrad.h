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
  int64_t size[2] = {}, outSize[2] = {}, kernel[2] = {};
  int64_t stride[2] = {}, dilation[2] = {}, low[2] = {};
  LanePitches src, dst; ///< of x, of dy
};

struct LaneGradKernels {
  /// sums[tap][lane] of the vector of channels that begins at x and dy, over rows [begin, end) of
  /// dy, of all images.
  void (*sum)(const LaneGrad &grad, const float *x, const float *dy, float *sums, int64_t begin,
              int64_t end);
  int lanes;
};

extern const LaneGradKernels laneGradAvx2, laneGradAvx512;

} // namespace dlc::runtime::builtin

#endif // DLC_RUNTIME_LIBRARY_BUILTIN_LANEGRAD_H
