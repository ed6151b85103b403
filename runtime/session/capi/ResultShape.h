//===- ResultShape.h - run-time shapes of outputs with a bounded dynamic dimension -===//
#ifndef DLC_RUNTIME_SESSION_CAPI_RESULTSHAPE_H
#define DLC_RUNTIME_SESSION_CAPI_RESULTSHAPE_H

#include "runtime/program/Plan.h"

#include <algorithm>
#include <span>

namespace dlc::runtime {

/// Returns the shape as known before a run: -1 for a dynamic dimension.
inline std::vector<int64_t> dynamicShape(const TensorInfo &info) {
  std::vector<int64_t> shape = info.shape;
  if (info.counter >= 0)
    shape[info.countedDim] = -1;
  return shape;
}

/// Returns the output's shape after a run that reported `count` as the size of its dynamic
/// dimension.
inline std::vector<int64_t> resultShape(const TensorInfo &output, int64_t count) {
  std::vector<int64_t> shape = output.shape;
  if (output.counter >= 0)
    shape[output.countedDim] = std::clamp<int64_t>(count, 0, shape[output.countedDim]);
  return shape;
}

/// Returns the shape of output i, with the count of its bounded dynamic dimension read from the
/// counter output in host memory.
inline std::vector<int64_t> resultShape(const Plan &plan, size_t i,
                                        std::span<void *const> outputs) {
  const TensorInfo &output = plan.outputs[i];
  return resultShape(output, output.counter < 0
                                 ? 0
                                 : *static_cast<const int64_t *>(outputs[size_t(output.counter)]));
}

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_CAPI_RESULTSHAPE_H
