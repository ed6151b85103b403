//===- Rows.cpp - row-wise iteration over tensors, and element access -----===//
#include "ir/reference/Rows.h"

#include <algorithm>
#include <cstring>

namespace dlc::ref {

Tensor makeResult(mlir::Value declared, llvm::ArrayRef<int64_t> shape, mlir::Type element) {
  mlir::Attribute encoding;
  if (auto type = llvm::dyn_cast<mlir::RankedTensorType>(declared.getType()))
    encoding = type.getEncoding();
  return Tensor::empty(mlir::RankedTensorType::get(shape, element, encoding));
}

template <typename C>
void loadRow(const Tensor &from, int64_t offset, int64_t stride, int64_t count, C *to) {
  if (isPacked(from.getElement())) {
    for (int64_t i = 0; i < count; ++i)
      to[i] = C(from.getInt(offset + i * stride));
    return;
  }
  dispatchStorageType(from.getElement(), [&](auto zero) {
    using T = decltype(zero);
    const T *data = reinterpret_cast<const T *>(from.data()) + offset;
    if (stride == 0)
      std::fill_n(to, count, count > 0 ? convert<C>(*data) : C());
    else if (stride == 1)
      std::transform(data, data + count, to, [](T v) { return convert<C>(v); });
    else
      for (int64_t i = 0; i < count; ++i)
        to[i] = convert<C>(data[i * stride]);
  });
}

template <typename C> void storeRow(Tensor &to, int64_t offset, int64_t count, const C *from) {
  if (isPacked(to.getElement())) {
    for (int64_t i = 0; i < count; ++i) {
      if constexpr (std::is_floating_point_v<C>)
        to.setDouble(offset + i, from[i]);
      else
        to.setInt(offset + i, int64_t(from[i]));
    }
    return;
  }
  dispatchStorageType(to.getElement(), [&](auto zero) {
    using T = decltype(zero);
    T *data = reinterpret_cast<T *>(to.mutableData()) + offset;
    std::transform(from, from + count, data, [](C v) { return convert<T>(v); });
  });
}

template void loadRow<double>(const Tensor &, int64_t, int64_t, int64_t, double *);
template void loadRow<int64_t>(const Tensor &, int64_t, int64_t, int64_t, int64_t *);
template void loadRow<uint64_t>(const Tensor &, int64_t, int64_t, int64_t, uint64_t *);
template void storeRow<double>(Tensor &, int64_t, int64_t, const double *);
template void storeRow<int64_t>(Tensor &, int64_t, int64_t, const int64_t *);
template void storeRow<uint64_t>(Tensor &, int64_t, int64_t, const uint64_t *);

void forEachRow(
    llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<std::vector<int64_t>> strides,
    llvm::function_ref<void(llvm::ArrayRef<int64_t>, llvm::ArrayRef<int64_t>, int64_t)> body) {
  if (llvm::is_contained(shape, 0))
    return;
  // Sizes of the merged dimensions, outermost first. steps[d][k] is the stride of operand k in
  // dimension d.
  Shape sizes;
  llvm::SmallVector<llvm::SmallVector<int64_t, 4>, 6> steps;
  for (auto [d, size] : llvm::enumerate(shape)) {
    if (size == 1)
      continue;
    llvm::SmallVector<int64_t, 4> step;
    for (const std::vector<int64_t> &s : strides)
      step.push_back(s[d]);
    bool even = !sizes.empty();
    for (size_t k = 0; even && k < step.size(); ++k)
      even = steps.back()[k] == step[k] * size;
    if (even) {
      sizes.back() *= size;
      steps.back() = step;
    } else {
      sizes.push_back(size);
      steps.push_back(step);
    }
  }
  if (sizes.empty()) {
    sizes.push_back(1);
    steps.emplace_back(strides.size(), 0);
  }
  llvm::SmallVector<int64_t, 4> places(strides.size(), 0);
  Shape index(sizes.size(), 0);
  while (true) {
    body(places, steps.back(), sizes.back());
    int64_t d = int64_t(sizes.size()) - 2;
    for (; d >= 0; --d) {
      ++index[d];
      for (size_t k = 0; k < places.size(); ++k)
        places[k] += steps[d][k];
      if (index[d] < sizes[d])
        break;
      for (size_t k = 0; k < places.size(); ++k)
        places[k] -= steps[d][k] * sizes[d];
      index[d] = 0;
    }
    if (d < 0)
      return;
  }
}

std::vector<int64_t> broadcastStrides(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to) {
  std::vector<int64_t> own = rowMajorStrides(from), strides(to.size(), 0);
  const size_t shift = to.size() - from.size();
  for (size_t d = 0; d < from.size(); ++d)
    strides[d + shift] = from[d] == 1 ? 0 : own[d];
  return strides;
}

std::optional<Shape> broadcastShapes(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes) {
  size_t rank = 0;
  for (llvm::ArrayRef<int64_t> shape : shapes)
    rank = std::max(rank, shape.size());
  Shape result(rank, 1);
  for (llvm::ArrayRef<int64_t> shape : shapes)
    for (size_t d = 0; d < shape.size(); ++d) {
      int64_t &size = result[rank - shape.size() + d];
      if (size != shape[d] && size != 1 && shape[d] != 1)
        return std::nullopt;
      if (size == 1)
        size = shape[d];
    }
  return result;
}

void copyStrided(const Tensor &from, int64_t start, std::vector<int64_t> strides, Tensor &to) {
  const int64_t width = elementBytes(from.getElementType());
  const char *source = from.data() + start * width;
  char *target = to.mutableData();
  auto copy = [&](auto zero) {
    using T = decltype(zero);
    forEachRow(to.getShape(), {rowMajorStrides(to.getShape()), strides},
               [&](llvm::ArrayRef<int64_t> places, llvm::ArrayRef<int64_t> steps, int64_t count) {
                 const T *in = reinterpret_cast<const T *>(source) + places[1];
                 T *out = reinterpret_cast<T *>(target) + places[0];
                 if (steps[1] == 1)
                   std::copy_n(in, count, out);
                 else
                   for (int64_t i = 0; i < count; ++i)
                     out[i] = in[i * steps[1]];
               });
  };
  switch (width) {
  case 1:
    return copy(uint8_t());
  case 2:
    return copy(uint16_t());
  case 4:
    return copy(uint32_t());
  default:
    return copy(uint64_t());
  }
}

AxisView::AxisView(llvm::ArrayRef<int64_t> shape, int64_t axis) : AxisView(shape, axis, axis + 1) {}

AxisView::AxisView(llvm::ArrayRef<int64_t> shape, int64_t axis, int64_t end)
    : outer(multiplyDims(shape.take_front(axis))),
      size(multiplyDims(shape.slice(axis, end - axis))),
      inner(multiplyDims(shape.drop_front(end))) {}

int64_t multiplyDims(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t d : shape)
    count *= d;
  return count;
}

Tensor subtractZeroPoint(const Tensor &x, const Tensor *zeroPoint) {
  mlir::Type i32 = mlir::IntegerType::get(x.getType().getContext(), 32);
  Tensor y = Tensor::empty(mlir::RankedTensorType::get(x.getShape(), i32));
  std::vector<int64_t> values = loadAll<int64_t>(x);
  if (zeroPoint) {
    const std::vector<int64_t> zeros = loadAll<int64_t>(*zeroPoint);
    forEachRow(
        x.getShape(),
        {rowMajorStrides(x.getShape()), broadcastStrides(zeroPoint->getShape(), x.getShape())},
        [&](llvm::ArrayRef<int64_t> at, llvm::ArrayRef<int64_t> step, int64_t count) {
          for (int64_t i = 0; i < count; ++i)
            values[at[0] + i * step[0]] -= zeros[at[1] + i * step[1]];
        });
  }
  storeAll(y, values);
  return y;
}

} // namespace dlc::ref
