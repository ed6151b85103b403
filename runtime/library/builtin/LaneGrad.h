//===- LaneGrad.h - weight gradient of a depthwise convolution in vectors of channels -===//
//
// The files compiled for one architecture include this header, so it contains
// no inline functions.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_BUILTIN_LANEGRAD_H
#define DLC_RUNTIME_LIBRARY_BUILTIN_LANEGRAD_H

#include "runtime/library/builtin/LanePool.h"

namespace dlc::runtime::builtin {

struct LaneGrad {
  int64_t size[2] = {}, outSize[2] = {}, kernel[2] = {};
  int64_t stride[2] = {}, dilation[2] = {}, low[2] = {};
  LanePitches src, dst; ///< strides of x and of dy
};

struct LaneGradKernels {
  /// Computes sums[tap][lane] for the vector of channels that begins at x and dy. The sums are over
  /// the rows [begin, end) of dy, numbered across all images.
  void (*sum)(const LaneGrad &grad, const float *x, const float *dy, float *sums, int64_t begin,
              int64_t end);
  int lanes;
};

extern const LaneGradKernels laneGradScalar, laneGradAvx2, laneGradAvx512;

} // namespace dlc::runtime::builtin

#endif // DLC_RUNTIME_LIBRARY_BUILTIN_LANEGRAD_H
