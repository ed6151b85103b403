//===- Parameter.h - what a parameter holds -------------------------------===//
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
  /// Made when first asked for: a model that is loaded from a file never makes what it replaces.
  Array elements;
  /// Who has the elements, when they were given away.
  std::function<Array()> home;
  mutable std::mutex mutex;
};

/// The number that all elements start at, where they do and are not made yet.
std::optional<double> startNumber(const Parameter &parameter);

} // namespace dlc::trace

#endif // DLC_FRONTEND_TRACE_PARAMETER_H
