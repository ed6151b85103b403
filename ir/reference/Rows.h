//===- Rows.h - walking tensors in rows, and reading them as numbers ------===//
//
// What is common to the operations: elements are read into buffers of one of three computing types
// (double, int64_t, uint64_t), worked on there, and rounded once when they are written. Only the
// readers and writers look at the element type, once per row.
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

/// A new tensor for a result: the shape and the element type found, the encoding declared.
Tensor makeResult(mlir::Value declared, llvm::ArrayRef<int64_t> shape, mlir::Type element);

/// Elements `offset + i * stride` for i < count, as numbers of the computing type C.
template <typename C>
void loadRow(const Tensor &from, int64_t offset, int64_t stride, int64_t count, C *to);
/// Writes consecutive elements from `offset` on, each converted as by dlc.cast.
template <typename C> void storeRow(Tensor &to, int64_t offset, int64_t count, const C *from);

template <typename C> std::vector<C> loadAll(const Tensor &from) {
  std::vector<C> values(from.size());
  loadRow<C>(from, 0, 1, from.size(), values.data());
  return values;
}
template <typename C> void storeAll(Tensor &to, const std::vector<C> &values) {
  storeRow<C>(to, 0, to.size(), values.data());
}

/// Walks the multi-indices of `shape` in row-major order, one row of the innermost dimension at a
/// time. Dimensions that every operand passes evenly are merged first, so rows are as long as can
/// be. `strides` has one list per operand; the body gets the place of the row's first element in
/// each operand and the step inside the row.
void forEachRow(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<std::vector<int64_t>> strides,
                llvm::function_ref<void(llvm::ArrayRef<int64_t> places,
                                        llvm::ArrayRef<int64_t> steps, int64_t count)>
                    body);

/// Strides that read `from` as if it were stretched to `to` by NumPy's rule: 0 in a stretched
/// dimension.
std::vector<int64_t> broadcastStrides(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);
/// The shape that all operands stretch to; nullopt when they do not fit together.
std::optional<Shape> broadcastShapes(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes);

/// The elements less their zero points, which broadcast to them, in i32; null: no zero points.
Tensor centered(const Tensor &x, const Tensor *zeroPoint);

/// Copies into `to`, in order, the elements of `from` that lie at `start + strides * index`.
void copyStrided(const Tensor &from, int64_t start, std::vector<int64_t> strides, Tensor &to);

/// A tensor seen as [outer, size, inner] around one axis.
struct AxisView {
  AxisView(llvm::ArrayRef<int64_t> shape, int64_t axis);
  /// The dimensions from `axis` up to `end` as one.
  AxisView(llvm::ArrayRef<int64_t> shape, int64_t axis, int64_t end);
  int64_t outer = 1, size = 1, inner = 1;
};

/// Where groups of rows begin, and where the last one ends, as dlc.grouped_matmul has its `ends`.
std::vector<int64_t> groupBorders(const Tensor &ends, int64_t rows);

/// The product of the sizes: the number of elements.
int64_t product(llvm::ArrayRef<int64_t> shape);

/// Wrapping arithmetic on integers and plain arithmetic on doubles.
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
/// The larger and the smaller; NaN if either is.
template <typename C> C maxOf(C a, C b) { return a != a ? a : (b != b || b > a) ? b : a; }
template <typename C> C minOf(C a, C b) { return a != a ? a : (b != b || b < a) ? b : a; }

/// What an empty maximum and an empty minimum give: the ends of the element type (infinite for
/// floats).
template <typename C> C lowestOf(Element element) {
  return withStorage(element, [](auto zero) -> C {
    using T = decltype(zero);
    if constexpr (std::is_same_v<C, double>)
      return -std::numeric_limits<double>::infinity();
    else if constexpr (std::is_integral_v<T>)
      return C(std::numeric_limits<T>::min());
    else
      return 0;
  });
}
template <typename C> C highestOf(Element element) {
  return withStorage(element, [](auto zero) -> C {
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
