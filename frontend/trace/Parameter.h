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
  /// Elements of the parameter, allocated and initialized at the first access. Thus a model that is
  /// loaded from a file does not compute initial values that the file replaces.
  Array elements;
  /// Function that returns the elements if they were moved to another owner by Parameter::moveTo;
  /// otherwise null.
  std::function<Array()> home;
  mutable std::mutex mutex;
};

/// Returns the initial value of the elements if all of them have the same and they are not
/// initialized yet. Returns nothing otherwise.
std::optional<double> getConstantInit(const Parameter &parameter);

} // namespace dlc::trace

#endif // DLC_FRONTEND_TRACE_PARAMETER_H
