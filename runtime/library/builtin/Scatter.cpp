//===- Scatter.cpp - writes to indexed positions (ScatterElements, ScatterND) -===//
//
// Kind scatter_elements of schema/Builtin.def:
//   buffers: data, indices, updates (dims of indices), dst (may be data). dst[.., indices[p], ..] =
//   updates[p], along `axis`.
//
// Kind scatter_nd of schema/Builtin.def:
//   buffers: data, indices, updates (dims of indices without the last one, then the dims of data
//   from number indices.dims[-1] on), dst (may be data).
//
// With "zeros": 1 (default 0) data is zeros and has no buffer. Negative indices count from the end.
// An index out of range is an error at run time. Updates are applied in order, so with "none" the
// last of several updates to the same position remains.
//
//===---------------------------------------------------------------------------===//
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/builtin/Builtin.h"
#include "runtime/program/Message.h"
#include "runtime/program/Numeric.h"

#include <atomic>
#include <cstring>
#include <type_traits>

namespace dlc::runtime::builtin {

namespace {

using Reduction = schema::ScatterReduction;

template <typename T> T combine(Reduction reduction, T before, T update) {
  using C = Compute<T>;
  C a = load(before), b = load(update);
  switch (reduction) {
  case Reduction::None:
    return update;
  case Reduction::Add:
    return store<T>(wrappingAdd<T>(a, b));
  case Reduction::Mul:
    return store<T>(wrappingMul<T>(a, b));
  case Reduction::Max:
    return lessThan(a, b) ? update : before;
  case Reduction::Min:
    return isNan(b) || (!isNan(a) && b < a) ? update : before;
  }
  return update;
}

/// Calls `run` with the reduction as a compile-time constant, so that its loop is vectorized.
template <typename Run> void dispatchReduction(Reduction reduction, Run &&run) {
  using R = Reduction;
  switch (reduction) {
  case R::None:
    return run(std::integral_constant<R, R::None>());
  case R::Add:
    return run(std::integral_constant<R, R::Add>());
  case R::Mul:
    return run(std::integral_constant<R, R::Mul>());
  case R::Max:
    return run(std::integral_constant<R, R::Max>());
  case R::Min:
    return run(std::integral_constant<R, R::Min>());
  }
}

/// Stores one index that is out of range, to report it after the parallel loop.
class BadIndex {
public:
  void report(int64_t value) {
    if (!found.exchange(true))
      index = value;
  }
  void check(const std::string &bounds) const {
    if (found)
      fail("index ", index, " is out of range ", bounds);
  }

private:
  std::atomic<bool> found = false;
  int64_t index = 0;
};

/// Copies `bytes` bytes from `from` to `to`, or sets them to 0 if `from` is null.
void copyParallel(void *to, const void *from, int64_t bytes, int threads) {
  if (to == from)
    return;
  parallelFor(threads, bytes, 1 << 20, [&](int64_t begin, int64_t end, int) {
    if (!from)
      std::memset(static_cast<char *>(to) + begin, 0, size_t(end - begin));
    else
      std::memmove(static_cast<char *>(to) + begin, static_cast<const char *>(from) + begin,
                   end - begin);
  });
}

int64_t readIndex(const void *indices, DType type, int64_t at) {
  return type == DType::I32 ? static_cast<const int32_t *>(indices)[at]
                            : static_cast<const int64_t *>(indices)[at];
}

/// Buffers of a ScatterElements or ScatterND call. `data` is null if the data is zeros.
struct ScatterBuffers {
  ScatterBuffers(void *const *buffers, bool zeros)
      : data(zeros ? nullptr : buffers[0]), indices(buffers[1 - zeros]),
        updates(buffers[2 - zeros]), dst(buffers[3 - zeros]) {}
  const void *data, *indices, *updates;
  void *dst;
};

struct ScatterElementsParameters {
  DType dtype, indexType;
  Reduction reduction;
  bool zeros;
  std::vector<int64_t> data, indices, dataStrides, indexStrides;
  size_t axis;
};

std::vector<int64_t> rowMajorStrides(const std::vector<int64_t> &dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t step = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = step;
    step *= dims[d];
  }
  return strides;
}

/// Computes ScatterElements. Different lines along the axis write different results, so lines run
/// in parallel, and each line applies its updates in order. Adjacent lines are processed together,
/// so that indices and updates are read sequentially.
template <typename T>
void scatterElements(const ScatterElementsParameters &s, const ScatterBuffers &buffers,
                     const CallContext &context) {
  copyParallel(buffers.dst, buffers.data, computeProduct(s.data) * int64_t(sizeof(T)),
               context.threads);
  const T *updates = static_cast<const T *>(buffers.updates);
  T *dst = static_cast<T *>(buffers.dst);
  int64_t len = s.indices[s.axis], limit = s.data[s.axis], step = s.dataStrides[s.axis];
  int64_t total = computeProduct(s.indices);
  if (total == 0)
    return;
  // Number of adjacent lines: the size of the last dimension, or 1 if the axis is the last
  // dimension.
  bool isLast = s.axis + 1 == s.indices.size();
  int64_t adjacentLines = isLast ? 1 : s.indices.back();
  BadIndex bad;
  auto run = [&](auto reduction, int64_t line, int64_t lines) {
    int64_t rest = line, from = 0, to = 0;
    for (size_t d = s.indices.size(); d-- > 0;) {
      if (d == s.axis)
        continue;
      int64_t coordinate = rest % s.indices[d];
      rest /= s.indices[d];
      from += coordinate * s.indexStrides[d];
      to += coordinate * s.dataStrides[d];
    }
    for (int64_t l = 0; l < len; ++l, from += s.indexStrides[s.axis])
      for (int64_t i = 0; i < lines; ++i) {
        int64_t index = readIndex(buffers.indices, s.indexType, from + i);
        int64_t wrapped = index < 0 ? index + limit : index;
        if (wrapped < 0 || wrapped >= limit)
          return bad.report(index);
        T &place = dst[to + wrapped * step + i];
        place = combine(decltype(reduction)::value, place, updates[from + i]);
      }
  };
  parallelFor(context.threads, total / len, std::max<int64_t>(1, 8192 / len),
              [&](int64_t begin, int64_t end, int) {
                dispatchReduction(s.reduction, [&](auto reduction) {
                  for (int64_t line = begin, lines = 0; line < end; line += lines) {
                    lines = std::min(end - line, adjacentLines - line % adjacentLines);
                    run(reduction, line, lines);
                  }
                });
              });
  bad.check(message("for axis ", s.axis, " of ", limit, " elements"));
}

struct ScatterNdParameters {
  DType dtype, indexType;
  Reduction reduction;
  bool zeros;
  std::vector<int64_t> data, strides;
  int64_t count, depth, sliceElements;
};

template <typename T>
void scatterNd(const ScatterNdParameters &s, const ScatterBuffers &buffers,
               const CallContext &context) {
  copyParallel(buffers.dst, buffers.data, computeProduct(s.data) * int64_t(sizeof(T)),
               context.threads);
  const T *updates = static_cast<const T *>(buffers.updates);
  T *dst = static_cast<T *>(buffers.dst);
  BadIndex bad;
  // Each thread applies its range of every slice, in order. So no two threads write to the same
  // element or to the same cache line.
  int64_t grain = std::max<int64_t>(64 / int64_t(sizeof(T)), 8192 / std::max<int64_t>(1, s.count));
  parallelFor(context.threads, s.sliceElements, grain, [&](int64_t begin, int64_t end, int) {
    dispatchReduction(s.reduction, [&](auto reduction) {
      for (int64_t n = 0; n < s.count; ++n) {
        int64_t offset = 0;
        for (int64_t d = 0; d < s.depth; ++d) {
          int64_t index = readIndex(buffers.indices, s.indexType, n * s.depth + d);
          int64_t wrapped = index < 0 ? index + s.data[d] : index;
          if (wrapped < 0 || wrapped >= s.data[d])
            return bad.report(index);
          offset += wrapped * s.strides[d];
        }
        const T *__restrict from = updates + n * s.sliceElements;
        T *__restrict to = dst + offset;
        for (int64_t i = begin; i < end; ++i)
          to[i] = combine(decltype(reduction)::value, to[i], from[i]);
      }
    });
  });
  bad.check(message("for data of dims ", formatList(s.data)));
}

} // namespace

std::unique_ptr<LibraryCall> makeScatterElements(KernelRequest &request) {
  const auto fields = request.read<schema::ScatterElements>();
  requireIndex(fields, "index", fields.index);
  ScatterElementsParameters s;
  s.dtype = fields.dtype;
  s.indexType = fields.index;
  s.reduction = fields.reduction;
  s.zeros = fields.zeros == 1;
  s.data = fields.data;
  s.indices = fields.indices;
  s.axis = static_cast<size_t>(fields.axis);
  if (s.axis >= s.data.size() || s.indices.size() != s.data.size())
    fields.complain(message("axis ", s.axis, " with data ", formatList(s.data), " and indices ",
                            formatList(s.indices)));
  for (size_t d = 0; d < s.data.size(); ++d)
    if (d != s.axis && s.indices[d] > s.data[d])
      fields.complain(
          message("indices ", formatList(s.indices), " do not fit into data ", formatList(s.data)));
  s.dataStrides = rowMajorStrides(s.data);
  s.indexStrides = rowMajorStrides(s.indices);
  if (!s.zeros)
    request.need("data", computeProduct(s.data), s.dtype, false);
  request.need("indices", computeProduct(s.indices), s.indexType, false);
  request.need("updates", computeProduct(s.indices), s.dtype, false);
  request.need("dst", computeProduct(s.data), s.dtype, true);
  request.end();
  return makeCall("scatter_elements", [s](void *const *buffers, const CallContext &context) {
    dispatch(s.dtype, [&](auto type) {
      scatterElements<typename decltype(type)::type>(s, ScatterBuffers(buffers, s.zeros), context);
    });
  });
}

std::unique_ptr<LibraryCall> makeScatterNd(KernelRequest &request) {
  const auto fields = request.read<schema::ScatterNd>();
  requireIndex(fields, "index", fields.index);
  ScatterNdParameters s;
  s.dtype = fields.dtype;
  s.indexType = fields.index;
  s.reduction = fields.reduction;
  s.zeros = fields.zeros == 1;
  s.data = fields.data;
  std::vector<int64_t> indices = fields.indices;
  if (indices.empty() || static_cast<size_t>(indices.back()) > s.data.size())
    fields.complain(message("indices ", formatList(indices), " for data ", formatList(s.data)));
  s.depth = indices.back();
  indices.pop_back();
  s.count = computeProduct(indices);
  s.strides = rowMajorStrides(s.data);
  s.sliceElements = 1;
  for (size_t d = static_cast<size_t>(s.depth); d < s.data.size(); ++d)
    s.sliceElements *= s.data[d];
  int64_t updates = 0;
  if (__builtin_mul_overflow(s.count, s.sliceElements, &updates))
    fields.complain("the updates are too large");
  if (!s.zeros)
    request.need("data", computeProduct(s.data), s.dtype, false);
  request.need("indices", s.count * s.depth, s.indexType, false);
  request.need("updates", updates, s.dtype, false);
  request.need("dst", computeProduct(s.data), s.dtype, true);
  request.end();
  return makeCall("scatter_nd", [s](void *const *buffers, const CallContext &context) {
    dispatch(s.dtype, [&](auto type) {
      scatterNd<typename decltype(type)::type>(s, ScatterBuffers(buffers, s.zeros), context);
    });
  });
}

} // namespace dlc::runtime::builtin
