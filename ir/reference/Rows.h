//===- Rows.h - row-wise iteration over tensors, and element access -------===//
//
// Utilities shared by the evaluators of all operations. Elements are read into buffers of one of
// three compute types (double, int64_t, uint64_t), computed there, and rounded once when they are
// written. Only the load and store functions dispatch on the element type, once per row.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_IR_REFERENCE_ROWS_H
#define DLC_IR_REFERENCE_ROWS_H

#include "ir/tensor/Tensor.h"
#include "mlir/IR/Operation.h"

namespace dlc::ref {

using Shape = llvm::SmallVector<int64_t, 6>;
using Inputs = llvm::ArrayRef<Tensor>;
using Outputs = llvm::SmallVectorImpl<Tensor> &;

/// Returns a zeroed result tensor with the given shape and element type and the encoding of the
/// declared value.
Tensor makeResult(mlir::Value declared, llvm::ArrayRef<int64_t> shape, mlir::Type element);

/// Loads the elements at `offset + i * stride` for i < count, converted to the compute type C.
template <typename C>
void loadRow(const Tensor &from, int64_t offset, int64_t stride, int64_t count, C *to);
/// Stores `count` elements contiguously from `offset` on. Each is converted to the tensor's element
/// type by the rules of dlc.cast.
template <typename C> void storeRow(Tensor &to, int64_t offset, int64_t count, const C *from);

template <typename C> std::vector<C> loadAll(const Tensor &from) {
  std::vector<C> values(from.size());
  loadRow<C>(from, 0, 1, from.size(), values.data());
  return values;
}
template <typename C> void storeAll(Tensor &to, const std::vector<C> &values) {
  storeRow<C>(to, 0, to.size(), values.data());
}

/// Iterates over the multi-indices of `shape` in row-major order, one row of the innermost
/// dimension at a time. Adjacent dimensions that are contiguous in every operand are merged first,
/// so that rows are as long as possible. `strides` has one list per operand. The body receives, for
/// each operand, the offset of the row's first element and the stride inside the row.
void forEachRow(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<std::vector<int64_t>> strides,
                llvm::function_ref<void(llvm::ArrayRef<int64_t> places,
                                        llvm::ArrayRef<int64_t> steps, int64_t count)>
                    body);

/// Returns strides that read `from` as if it were broadcast to `to` by NumPy's rules: 0 in a
/// broadcast dimension.
std::vector<int64_t> broadcastStrides(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);
/// Returns the shape that all operands broadcast to, or nullopt if the shapes are incompatible.
std::optional<Shape> broadcastShapes(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes);

/// Returns x - zeroPoint in i32, where the zero point broadcasts to x. A null zeroPoint means a
/// zero point of 0.
Tensor subtractZeroPoint(const Tensor &x, const Tensor *zeroPoint);

/// Copies the elements of `from` at offsets `start + strides * index` into `to`, in row-major order
/// of `index`.
void copyStrided(const Tensor &from, int64_t start, std::vector<int64_t> strides, Tensor &to);

/// View of a tensor's shape as [outer, size, inner] around one axis.
struct AxisView {
  AxisView(llvm::ArrayRef<int64_t> shape, int64_t axis);
  /// Merges dimensions `axis` to `end` - 1 into the middle dimension `size`.
  AxisView(llvm::ArrayRef<int64_t> shape, int64_t axis, int64_t end);
  int64_t outer = 1, size = 1, inner = 1;
};

/// Returns the first row of each group of a grouped matmul, followed by the end of the last group.
/// `ends` is the operand of dlc.grouped_matmul.
std::vector<int64_t> groupBorders(const Tensor &ends, int64_t rows);

/// Returns the product of the sizes, which is the number of elements.
int64_t multiplyDims(llvm::ArrayRef<int64_t> shape);

/// Addition that wraps on overflow for integers, and ordinary addition for doubles.
template <typename C> C wrapAdd(C a, C b) {
  if constexpr (std::is_integral_v<C>)
    return C(uint64_t(a) + uint64_t(b));
  else
    return a + b;
}
template <typename C> C wrapSub(C a, C b) {
  if constexpr (std::is_integral_v<C>)
    return C(uint64_t(a) - uint64_t(b));
  else
    return a - b;
}
template <typename C> C wrapMul(C a, C b) {
  if constexpr (std::is_integral_v<C>)
    return C(uint64_t(a) * uint64_t(b));
  else
    return a * b;
}
/// Returns the maximum of two values, or NaN if either is NaN.
template <typename C> C maxOf(C a, C b) { return a != a ? a : (b != b || b > a) ? b : a; }
template <typename C> C minOf(C a, C b) { return a != a ? a : (b != b || b < a) ? b : a; }

/// Returns the maximum over no elements: the lowest value of the element type, minus infinity for
/// floats.
template <typename C> C getLowest(Element element) {
  return dispatchStorageType(element, [](auto zero) -> C {
    using T = decltype(zero);
    if constexpr (std::is_same_v<C, double>)
      return -std::numeric_limits<double>::infinity();
    else if constexpr (std::is_integral_v<T>)
      return C(std::numeric_limits<T>::min());
    else
      return 0;
  });
}
template <typename C> C getHighest(Element element) {
  return dispatchStorageType(element, [](auto zero) -> C {
    using T = decltype(zero);
    if constexpr (std::is_same_v<C, double>)
      return std::numeric_limits<double>::infinity();
    else if constexpr (std::is_integral_v<T>)
      return C(std::numeric_limits<T>::max());
    else
      return 1;
  });
}

} // namespace dlc::ref

#endif // DLC_IR_REFERENCE_ROWS_H
