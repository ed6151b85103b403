//===- Grouped.cpp - grouped matmuls of any floating-point type -----------===//
//
// Simple loops for the grouped matmuls with any floating-point type. On processors with
// vectors, ../products computes f32 and bf16. Sums of 16-bit floats are f32.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/describe/Grouped.h"
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/builtin/Builtin.h"
#include "runtime/program/Numeric.h"

namespace dlc::runtime::builtin {

namespace {

using describe::Grouped;

/// Adds the products of x and `count` elements of `row` to `sums`.
template <typename T>
void addRow(Compute<T> x, const T *__restrict row, int64_t count, Compute<T> *__restrict sums) {
  for (int64_t j = 0; j < count; ++j)
    sums[j] += x * load(row[j]);
}

template <typename T> void writeRow(const std::vector<Compute<T>> &sums, T *to) {
  for (size_t j = 0; j < sums.size(); ++j)
    to[j] = store<T>(sums[j]);
}

template <typename T>
void computeGroupedMatmul(const Grouped &g, void *const *buffers, const CallContext &context) {
  const T *a = static_cast<const T *>(buffers[0]), *b = static_cast<const T *>(buffers[1]);
  const bool transposed = g.matrices == Grouped::Matrices::Columns;
  T *dst = static_cast<T *>(buffers[3]);
  const std::vector<int64_t> borders = g.borders(buffers[2]);
  parallelFor(context.threads, g.rows, 1, [&](int64_t begin, int64_t end, int) {
    std::vector<Compute<T>> sums(static_cast<size_t>(g.n));
    for (int64_t row = begin; row < end; ++row) {
      auto group = std::upper_bound(borders.begin(), borders.end(), row) - borders.begin() - 1;
      const T *x = a + row * g.k, *matrix = b + group * g.k * g.n;
      std::fill(sums.begin(), sums.end(), Compute<T>(0));
      if (row < borders.back()) {
        for (int64_t j = 0; transposed && j < g.n; ++j)
          for (int64_t p = 0; p < g.k; ++p)
            sums[static_cast<size_t>(j)] += load(x[p]) * load(matrix[j * g.k + p]);
        for (int64_t p = 0; !transposed && p < g.k; ++p)
          addRow<T>(load(x[p]), matrix + p * g.n, g.n, sums.data());
      }
      writeRow<T>(sums, dst + row * g.n);
    }
  });
}

template <typename T>
void computeGroupedGradient(const Grouped &g, void *const *buffers, const CallContext &context) {
  const T *a = static_cast<const T *>(buffers[0]), *dy = static_cast<const T *>(buffers[1]);
  T *dst = static_cast<T *>(buffers[3]);
  const std::vector<int64_t> borders = g.borders(buffers[2]);
  parallelFor(context.threads, g.groups * g.k, 1, [&](int64_t begin, int64_t end, int) {
    std::vector<Compute<T>> sums(static_cast<size_t>(g.n));
    for (int64_t item = begin; item < end; ++item) {
      auto group = static_cast<size_t>(item / g.k);
      std::fill(sums.begin(), sums.end(), Compute<T>(0));
      for (int64_t row = borders[group]; row < borders[group + 1]; ++row)
        addRow<T>(load(a[row * g.k + item % g.k]), dy + row * g.n, g.n, sums.data());
      writeRow<T>(sums, dst + item * g.n);
    }
  });
}

/// Calls `run` with the element type, which must be a floating-point type.
template <typename Body> void dispatchFloat(DType dtype, const Body &run) {
  dispatch(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (isHalf<T> || std::is_floating_point_v<T>)
      run(type);
  });
}

} // namespace

std::unique_ptr<LibraryCall> makeGrouped(KernelRequest &request) {
  const auto fields = request.read<schema::Grouped>();
  const Grouped g = Grouped::of(fields, /*canBePacked=*/false);
  g.check(request.given, 0);
  return makeCall(nameOf(fields.kind), [g](void *const *buffers, const CallContext &context) {
    dispatchFloat(g.dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      g.isGradient ? computeGroupedGradient<T>(g, buffers, context)
                   : computeGroupedMatmul<T>(g, buffers, context);
    });
  });
}

} // namespace dlc::runtime::builtin
