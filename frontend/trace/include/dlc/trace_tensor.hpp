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

/// In a shape: a size that is known when the program runs.
inline constexpr int64_t kDynamic = -1;

/// A list of dimensions or sizes; one number stands for a list of one.
class Dims : public std::vector<int64_t> {
public:
  using vector::vector;
  Dims(std::vector<int64_t> dims) : vector(std::move(dims)) {}
  template <std::integral T> Dims(T dim) : vector(1, static_cast<int64_t>(dim)) {}
};

/// Numbers on the host: row-major, bool as one byte. Copies share the elements.
struct Array {
  DType dtype = DType::F32;
  Shape shape;
  /// Holds the memory (or the mapped file) alive.
  std::shared_ptr<const void> data;

  int64_t size() const;
  size_t bytes() const { return tensorBytes(dtype, shape); }
  template <typename T> const T *as() const { return static_cast<const T *>(data.get()); }

  /// New zeros. `elements` is where to write them before the array is shared.
  static Array zeros(DType dtype, Shape shape, void **elements = nullptr);
  static Array of(Shape shape, const std::vector<float> &values);
  static Array ints(Shape shape, const std::vector<int64_t> &values);
  /// Rounds to nearest even; floats to integers truncate and saturate.
  Array to(DType other) const;
  /// Element `index` in row-major order.
  double at(int64_t index) const;
};

/// The value of an expression of the program being traced.
class Tensor {
public:
  Tensor() = default;
  explicit operator bool() const { return value != nullptr; }

  Shape shape() const;
  int64_t rank() const { return static_cast<int64_t>(shape().size()); }
  /// The size of one dimension; negative ones count from the end.
  int64_t dim(int64_t dimension) const;
  DType dtype() const;
  /// The trace's default device where nothing was said of devices.
  Device device() const;
  /// The same value on that device: nothing else crosses devices.
  Tensor to(Device device, Location location = Location::current()) const;

private:
  friend class State;
  friend class Call;
  Tensor(std::shared_ptr<State> state, void *value) : state(std::move(state)), value(value) {}
  std::shared_ptr<State> state;
  void *value = nullptr;
};

/// What an operation takes: a tensor, a number, a parameter or nothing, and where in the source it
/// was given. A number becomes a constant of the element type of the tensors beside it.
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
  /// The same operand, given somewhere else.
  Operand(const Operand &other, Location where) : Operand(other) { location = where; }

  explicit operator bool() const { return kind != Kind::None; }

  Kind kind;
  Tensor tensor;
  std::shared_ptr<const trace::Parameter> parameter;
  double real = 0;
  int64_t integer = 0;
  Location location;
};

/// Several operands: a braced list, or a vector of tensors or parameters.
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
