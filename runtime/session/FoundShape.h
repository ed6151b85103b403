//===- FoundShape.h - shapes of outputs of which the run finds a size ---------===//
#ifndef DLC_RUNTIME_SESSION_FOUNDSHAPE_H
#define DLC_RUNTIME_SESSION_FOUNDSHAPE_H

#include "runtime/program/Plan.h"

#include <algorithm>
#include <span>

namespace dlc::runtime {

/// The shape that an input or output has for who has not run the program: -1 where the run finds
/// it.
inline std::vector<int64_t> openShape(const TensorInfo &info) {
  std::vector<int64_t> shape = info.shape;
  if (info.counter >= 0)
    shape[info.countedDim] = -1;
  return shape;
}

/// The shape that an output has after the run that counted so many along its counted dimension.
inline std::vector<int64_t> foundShape(const TensorInfo &output, int64_t count) {
  std::vector<int64_t> shape = output.shape;
  if (output.counter >= 0)
    shape[output.countedDim] = std::clamp<int64_t>(count, 0, shape[output.countedDim]);
  return shape;
}

/// The same of outputs in the host's memory.
inline std::vector<int64_t> foundShape(const Plan &plan, size_t i, std::span<void *const> outputs) {
  const TensorInfo &output = plan.outputs[i];
  return foundShape(output, output.counter < 0
                                ? 0
                                : *static_cast<const int64_t *>(outputs[size_t(output.counter)]));
}

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_FOUNDSHAPE_H
