//===- tensor.hpp - dense arrays on a device ---------------------------------===//
#ifndef DLC_TENSOR_HPP
#define DLC_TENSOR_HPP

#include "dlc/DType.h"
#include "dlc/device.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace dlc {

namespace detail {

inline DLDataType toDlpack(DType type) {
  uint8_t bits = static_cast<uint8_t>(dtypeBits(type));
  char first = dtypeName(type)[0];
  uint8_t code = type == DType::BF16   ? kDLBfloat
                 : type == DType::Bool ? kDLBool
                 : first == 'f'        ? kDLFloat
                 : first == 'i'        ? kDLInt
                                       : kDLUInt;
  return {code, bits, 1};
}

inline DType fromDlpack(DLDataType type) {
  for (int i = 0; i < kDTypeCount; ++i) {
    DLDataType known = toDlpack(static_cast<DType>(i));
    if (known.code == type.code && known.bits == type.bits && type.lanes == 1)
      return static_cast<DType>(i);
  }
  throw Error("this DLPack element type is not supported by dlc");
}

template <typename T> constexpr DType dtypeOf() {
  static_assert(std::is_arithmetic_v<T>, "use Tensor::view with a DType for other types");
  if constexpr (std::is_same_v<T, bool>)
    return DType::Bool;
  else if constexpr (std::is_floating_point_v<T>)
    return sizeof(T) == 8 ? DType::F64 : DType::F32;
  else if constexpr (std::is_signed_v<T>)
    return sizeof(T) == 1   ? DType::I8
           : sizeof(T) == 2 ? DType::I16
           : sizeof(T) == 4 ? DType::I32
                            : DType::I64;
  else
    return sizeof(T) == 1   ? DType::U8
           : sizeof(T) == 2 ? DType::U16
           : sizeof(T) == 4 ? DType::U32
                            : DType::U64;
}

/// Formats a shape as "[2, 3]".
inline std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

/// An asynchronous copy in progress. Keeps source and destination alive until wait() or
/// destruction.
class Arrival {
public:
  Arrival(dlc_copy *copy, std::shared_ptr<void> from, std::shared_ptr<void> to)
      : copy(copy), from(std::move(from)), to(std::move(to)) {}
  Arrival(const Arrival &) = delete;
  Arrival &operator=(const Arrival &) = delete;
  ~Arrival() { dlc_error_free(dlc_copy_end(copy)); }

  void wait() {
    std::lock_guard lock(mutex);
    if (!why.empty())
      throw Error(why);
    if (!copy)
      return;
    dlc_error *error = dlc_copy_end(std::exchange(copy, nullptr));
    from.reset();
    to.reset();
    if (!error)
      return;
    why = dlc_error_message(error);
    check(error);
  }

private:
  std::mutex mutex;
  dlc_copy *copy;
  std::shared_ptr<void> from, to;
  std::string why;
};

} // namespace detail

/// A dense row-major array on a device. Copies of a Tensor share its memory.
class Tensor {
public:
  Tensor() = default;

  /// Allocates uninitialized memory, aligned to 64 bytes.
  Tensor(DType dtype, std::vector<int64_t> shape, Device device = {})
      : type(dtype), dims(std::move(shape)), where(device) {
    if (where.isHost() && where.dlpack().device_type == kDLCPU) {
      size_t size = (bytes() + 63) / 64 * 64;
      memory = std::shared_ptr<void>(std::aligned_alloc(64, size ? size : 64), std::free);
      if (!memory)
        throw std::bad_alloc();
      return;
    }
    void *address = nullptr;
    detail::check(dlc_memory_allocate(where.dlpack(), bytes() ? bytes() : 1, &address));
    DLDevice on = where.dlpack();
    memory = std::shared_ptr<void>(address, [on](void *p) { dlc_memory_free(on, p); });
  }

  /// Returns a tensor with a copy of `values`, whose size must match the shape.
  template <typename T>
  static Tensor of(std::vector<int64_t> shape, const std::vector<T> &values, Device device = {}) {
    Tensor tensor(detail::dtypeOf<T>(), std::move(shape));
    if (static_cast<size_t>(tensor.elements()) != values.size())
      throw Error("a tensor of " + std::to_string(tensor.elements()) + " elements from " +
                  std::to_string(values.size()) + " values");
    T *to = tensor.data<T>();
    for (size_t i = 0; i < values.size(); ++i)
      to[i] = values[i];
    return tensor.to(device);
  }

  /// Returns a view of external memory, which `owner` (may be null) keeps alive.
  static Tensor view(void *data, DType dtype, std::vector<int64_t> shape,
                     std::shared_ptr<void> owner = nullptr, Device device = {}) {
    Tensor tensor;
    tensor.type = dtype;
    tensor.dims = std::move(shape);
    tensor.memory = std::shared_ptr<void>(std::move(owner), data);
    tensor.where = device;
    return tensor;
  }

  static Tensor full(std::vector<int64_t> shape, double value, DType dtype = DType::F32,
                     Device device = {}) {
    Tensor tensor(DType::F64, std::move(shape));
    double *to = tensor.data<double>();
    for (int64_t i = 0, count = tensor.elements(); i < count; ++i)
      to[i] = value;
    return tensor.convertedTo(dtype, device);
  }
  static Tensor zeros(std::vector<int64_t> shape, DType dtype = DType::F32, Device device = {}) {
    return full(std::move(shape), 0, dtype, device);
  }
  static Tensor ones(std::vector<int64_t> shape, DType dtype = DType::F32, Device device = {}) {
    return full(std::move(shape), 1, dtype, device);
  }
  /// Returns the one-dimensional tensor [0, 1, …, count - 1].
  static Tensor arange(int64_t count, DType dtype = DType::I64, Device device = {}) {
    Tensor tensor(DType::I64, {count});
    for (int64_t i = 0; i < count; ++i)
      tensor.data<int64_t>()[i] = i;
    return tensor.convertedTo(dtype, device);
  }
  /// Returns a tensor of uniform random numbers in [0, 1). The same seed gives the same numbers on
  /// every device.
  static Tensor random(std::vector<int64_t> shape, DType dtype = DType::F32, Device device = {},
                       uint64_t seed = 0) {
    Tensor tensor(DType::F64, std::move(shape));
    double *to = tensor.data<double>();
    for (int64_t i = 0, count = tensor.elements(); i < count; ++i) {
      uint64_t z =
          (seed + 1) * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(i) * 0xd1342543de82ef95u;
      z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
      z = (z ^ z >> 27) * 0x94d049bb133111ebu;
      // f32 represents all multiples of 2^-24 in [0, 1) exactly.
      to[i] = static_cast<double>((z ^ z >> 31) >> 40) * 0x1p-24;
    }
    return tensor.convertedTo(dtype, device);
  }

  // Factory functions for tensors with the device and the element type of this tensor.
  Tensor new_empty(std::vector<int64_t> shape) const {
    return Tensor(type, std::move(shape), where);
  }
  Tensor new_zeros(std::vector<int64_t> shape) const {
    return zeros(std::move(shape), type, where);
  }
  Tensor new_ones(std::vector<int64_t> shape) const { return ones(std::move(shape), type, where); }
  Tensor new_full(std::vector<int64_t> shape, double value) const {
    return full(std::move(shape), value, type, where);
  }

  DType dtype() const { return type; }
  const std::vector<int64_t> &shape() const { return dims; }
  Device device() const { return where; }
  int64_t elements() const {
    int64_t count = 1;
    for (int64_t dim : dims)
      count *= dim;
    return count;
  }
  size_t bytes() const { return tensorBytes(type, dims); }

  /// Returns this tensor, without a copy, if it is already on the device; otherwise a copy on the
  /// device. With `nonBlocking` the copy is asynchronous (at full speed from pinned memory): the
  /// first use of the result waits for it, and this tensor must not be modified before.
  Tensor to(Device device, bool nonBlocking = false) const {
    return device == where ? *this : nonBlocking ? copyBehind(device) : copy(device);
  }
  /// Returns this tensor, without a copy, if it already has the type; otherwise a converted copy.
  Tensor to(DType dtype) const { return dtype == type ? *this : convertedTo(dtype, where); }
  /// Returns a copy with its own memory, even if the device is the same.
  Tensor copy(Device device) const { return convertedTo(type, device); }
  Tensor copy() const { return copy(where); }
  /// Copies the elements of `from` to this tensor. `from` may be on any device and have any element
  /// type.
  const Tensor &copy_(const Tensor &from) const {
    if (from.dims != dims)
      throw Error("copy_: the tensor has shape " + detail::shapeText(dims) +
                  ", the source has shape " + detail::shapeText(from.dims) +
                  "; give them the same shape");
    DLTensor source = from.dlpack(), target = dlpack();
    detail::check(dlc_tensor_copy(&target, &source));
    return *this;
  }
  /// Returns a copy in pinned host memory, which a GPU copies from and to without staging.
  Tensor pin() const { return is_pinned() ? *this : copy(Device(DLDevice{kDLCUDAHost, 0})); }
  bool is_pinned() const { return where.dlpack().device_type == kDLCUDAHost; }

  /// Waits for an asynchronous copy into this tensor, if one is in progress.
  void wait() const {
    if (arrival)
      arrival->wait();
  }
  /// Returns the address of the data on the tensor's device. Waits for a pending copy first.
  void *raw() const {
    wait();
    return memory.get();
  }
  template <typename T> T *data() const {
    static_assert(!std::is_same_v<T, void>);
    if (isPacked(type) || sizeof(T) != dtypeBytes(type))
      throw Error("a tensor of " + std::string(dtypeName(type)) +
                  " cannot be read as a type of another size");
    if (!where.isHost())
      throw Error("the tensor is on " + where.name() +
                  ", which the host cannot access; copy it first: x.to(\"cpu\")");
    return static_cast<T *>(raw());
  }
  /// Returns the value of a tensor that has exactly one element.
  double item() const {
    if (elements() != 1)
      throw Error("item() requires a tensor of one element; found shape " +
                  detail::shapeText(dims));
    return *convertedTo(DType::F64, {}).data<double>();
  }

  /// Returns a DLPack view of this tensor. The tensor must outlive the view.
  DLTensor dlpack() const {
    return {raw(),
            where.dlpack(),
            static_cast<int32_t>(dims.size()),
            detail::toDlpack(type),
            const_cast<int64_t *>(dims.data()),
            nullptr,
            0};
  }

private:
  Tensor convertedTo(DType dtype, Device device) const {
    Tensor result(dtype, dims, device);
    result.copy_(*this);
    return result;
  }

  Tensor copyBehind(Device device) const {
    Tensor result(type, dims, device);
    DLTensor source = dlpack(), target = result.dlpack();
    dlc_copy *begun = nullptr;
    detail::check(dlc_tensor_copy_begin(&target, &source, &begun));
    result.arrival = std::make_shared<detail::Arrival>(begun, memory, result.memory);
    return result;
  }

  DType type = DType::F32;
  std::vector<int64_t> dims = {0};
  Device where;
  std::shared_ptr<void> memory;
  /// Pending asynchronous copy into this tensor; null if there is none.
  std::shared_ptr<detail::Arrival> arrival;
};

namespace detail {

/// Prints the elements of dimensions `dim` and following, starting at element `at`. Only the first
/// and last 3 indices of a long dimension are printed.
inline void print(std::ostream &out, const Tensor &x, const double *reals, const int64_t *integers,
                  size_t dim, int64_t &at) {
  constexpr int64_t kEdge = 3;
  if (dim == x.shape().size()) {
    if (x.dtype() == DType::Bool)
      out << (integers[at] ? "true" : "false");
    else if (integers)
      out << integers[at];
    else
      out << reals[at];
    ++at;
    return;
  }
  int64_t size = x.shape()[dim], inner = 1;
  for (size_t d = dim + 1; d < x.shape().size(); ++d)
    inner *= x.shape()[d];
  bool cut = x.elements() > 1000 && size > 2 * kEdge;
  out << "[";
  for (int64_t i = 0; i < size; ++i) {
    if (i)
      out << ", ";
    if (cut && i == kEdge) {
      out << "..., ";
      at += (size - 2 * kEdge) * inner;
      i = size - kEdge;
    }
    print(out, x, reals, integers, dim + 1, at);
  }
  out << "]";
}

} // namespace detail

/// Prints a tensor, for example as "tensor([[1, 2], [3, 4]], f32, cpu:1)".
inline std::ostream &operator<<(std::ostream &out, const Tensor &x) {
  char first = dtypeName(x.dtype())[0];
  bool real = first == 'f' || x.dtype() == DType::BF16;
  Tensor values = x.to(Device()).to(real ? DType::F64 : DType::I64);
  int64_t at = 0;
  out << "tensor(";
  detail::print(out, x, real ? values.data<double>() : nullptr,
                real ? nullptr : values.data<int64_t>(), 0, at);
  return out << ", " << dtypeName(x.dtype()) << ", " << x.device().name() << ")";
}

} // namespace dlc

#endif // DLC_TENSOR_HPP
