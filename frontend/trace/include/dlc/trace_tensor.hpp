//===- trace_tensor.hpp - symbolic tensors, host arrays and operands ------===//
#ifndef DLC_TRACE_TENSOR_HPP
#define DLC_TRACE_TENSOR_HPP

#include "dlc/DType.h"
#include "dlc/Error.h"
#include "dlc/device.hpp"

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <source_location>
#include <string>
#include <type_traits>
#include <vector>

namespace dlc::trace {

class State;
class Parameter;
using Location = std::source_location;
using Shape = std::vector<int64_t>;

/// Dynamic size: marks a size in a shape that is known only at run time.
inline constexpr int64_t kDynamic = -1;

/// A list of dimension indices or sizes. A single number converts to a list of one.
class Dims : public std::vector<int64_t> {
public:
  using vector::vector;
  Dims(std::vector<int64_t> dims) : vector(std::move(dims)) {}
  template <std::integral T> Dims(T dim) : vector(1, static_cast<int64_t>(dim)) {}
};

/// An array in host memory, in row-major order and with bool stored as one byte. Copies share the
/// elements.
struct Array {
  DType dtype = DType::F32;
  Shape shape;
  /// The elements. The pointer also keeps their memory (or the mapped file) alive.
  std::shared_ptr<const void> data;

  int64_t size() const;
  size_t bytes() const { return tensorBytes(dtype, shape); }
  template <typename T> const T *as() const { return static_cast<const T *>(data.get()); }

  /// Creates an array of zeros. If `elements` is given, it receives a pointer through which the
  /// caller may write the elements before the array is shared.
  static Array zeros(DType dtype, Shape shape, void **elements = nullptr);
  static Array of(Shape shape, const std::vector<float> &values);
  static Array ints(Shape shape, const std::vector<int64_t> &values);
  /// Converts the elements to another type. Floats are rounded to nearest even; conversions from
  /// float to integer truncate and saturate.
  Array to(DType other) const;
  /// Returns the element at position `index` in row-major order.
  double at(int64_t index) const;
};

/// A symbolic tensor: the value of an expression in the program that is being traced.
class Tensor {
public:
  Tensor() = default;
  explicit operator bool() const { return value != nullptr; }

  Shape shape() const;
  int64_t rank() const { return static_cast<int64_t>(shape().size()); }
  /// Returns the size of one dimension. Negative dimensions count from the end.
  int64_t dim(int64_t dimension) const;
  DType dtype() const;
  /// Returns the tensor's device. If the trace names no devices, returns the trace's default
  /// device.
  Device device() const;
  /// Transfers the tensor to a device. No other operation moves data between devices.
  Tensor to(Device device, Location location = Location::current()) const;

private:
  friend class State;
  friend class ApiCall;
  Tensor(std::shared_ptr<State> state, void *value) : state(std::move(state)), value(value) {}
  std::shared_ptr<State> state;
  void *value = nullptr;
};

/// An operand of an operation: a tensor, a number, a parameter or nothing, with the source location
/// of the call. A number becomes a constant of the element type of the other operands.
class Operand {
public:
  enum class Kind { None, Tensor, Parameter, Integer, Real };

  Operand(const Tensor &tensor, Location location = Location::current())
      : kind(tensor ? Kind::Tensor : Kind::None), tensor(tensor), location(location) {}
  Operand(const Parameter &parameter, Location location = Location::current());
  template <typename T>
  requires std::is_arithmetic_v<T> Operand(T number, Location location = Location::current())
      : kind(std::is_floating_point_v<T> ? Kind::Real : Kind::Integer), location(location) {
    if constexpr (std::is_floating_point_v<T>)
      real = static_cast<double>(number);
    else
      integer = static_cast<int64_t>(number);
  }
  /// Copies an operand and replaces its source location.
  Operand(const Operand &other, Location where) : Operand(other) { location = where; }

  explicit operator bool() const { return kind != Kind::None; }

  Kind kind;
  Tensor tensor;
  std::shared_ptr<const trace::Parameter> parameter;
  double real = 0;
  int64_t integer = 0;
  Location location;
};

/// A list of operands: a braced list, or a vector of tensors or parameters.
class Operands : public std::vector<Operand> {
public:
  Operands(std::initializer_list<Operand> operands) : vector(operands) {}
  Operands(const std::vector<Tensor> &tensors, Location location = Location::current()) {
    for (const Tensor &tensor : tensors)
      emplace_back(tensor, location);
  }
  Operands(const std::vector<Parameter> &parameters, Location location = Location::current());
};

} // namespace dlc::trace

#endif // DLC_TRACE_TENSOR_HPP
