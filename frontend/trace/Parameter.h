//===- Parameter.h - internal state of a parameter ------------------------===//
#ifndef DLC_FRONTEND_TRACE_PARAMETER_H
#define DLC_FRONTEND_TRACE_PARAMETER_H

#include "dlc/nn.hpp"

#include <mutex>
#include <optional>

namespace dlc::trace {

struct Parameter::State {
  std::string name;
  Shape shape;
  DType dtype = DType::F32;
  Init init;
  bool buffer = false, variable = false;
  std::optional<Device> device;
  uint64_t seed = 0;
  /// Allocated and initialized at the first access, so a model loaded from a file never computes
  /// initial values that the file replaces.
  Array elements;
  /// Returns the elements if they were moved elsewhere (Parameter::moveTo).
  std::function<Array()> home;
  mutable std::mutex mutex;
};

/// Returns the value that all elements start with, if it is the same for all and the elements are
/// not initialized yet.
std::optional<double> startNumber(const Parameter &parameter);

} // namespace dlc::trace

#endif // DLC_FRONTEND_TRACE_PARAMETER_H
