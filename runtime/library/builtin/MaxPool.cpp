//===- MaxPool.cpp - max pooling with the positions of the maxima ---------===//
//
// Kind max_pool_indices of schema/Builtin.def:
//   buffers: src, values, indices (i64: index in all of src; with storage_order 1 the first spatial
//   dimension varies fastest). Of equal maxima, the first one is taken; NaN is the largest value. A
//   window that contains only padding has the lowest value and the index -1.
//
// Kind max_pool_positions of schema/Builtin.def:
//   As max_pool_indices with positions instead of indices (u8: row-major position in the window; 0
//   if the window contains only padding), for windows of at most 256 elements.
//
//===---------------------------------------------------------------------------===//
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/builtin/Pooling.h"
#include "runtime/program/Numeric.h"

#include <algorithm>

namespace dlc::runtime::builtin {

namespace {

/// Maximum of a window: its index in the plane (-1 if the window contains only padding), and its
/// tap.
struct WindowMaximum {
  int64_t at, tap;
};

/// Maximum number of results of a row that are computed together.
constexpr int64_t kRun = 256;

/// Computes the maxima of the windows of adjacent results in a row, tap by tap.
template <typename T> class Row {
public:
  explicit Row(const Pooling &given)
      : pool(given), last(pool.rank() - 1), taps(pool.window.sizes[last]),
        starts(size_t(pool.taps / taps)) {}

  /// Computes the results [begin, begin + count) of row `row`, and calls `tell(i, maximum)` for
  /// each. A plane has outputs / dst[last] rows.
  template <typename Tell>
  void run(const T *plane, int64_t row, int64_t begin, int64_t count, T *values, Tell tell) {
    startsOf(row);
    C best[kRun];
    int32_t found[kRun];
    std::fill_n(best, count, lowest<C>());
    std::fill_n(found, count, -1);
    const int64_t stride = pool.window.strides[last], size = pool.src[last];
    for (size_t outer = 0; outer < starts.size(); ++outer) {
      if (starts[outer] < 0)
        continue;
      for (int64_t tap = 0; tap < taps; ++tap) {
        // Coordinate that the tap reads for the first result.
        int64_t from = begin * stride + offsetOf(tap);
        int64_t first = from < 0 ? (-from + stride - 1) / stride : 0;
        int64_t end = from < size ? std::min(count, (size - 1 - from) / stride + 1) : 0;
        const int64_t start = starts[outer] + from;
        const auto number = int32_t(int64_t(outer) * taps + tap);
        for (int64_t i = first; i < end; ++i) {
          C candidate = load(plane[start + i * stride]);
          bool takes = found[i] < 0 || lessThan(best[i], candidate);
          best[i] = takes ? candidate : best[i];
          found[i] = takes ? number : found[i];
        }
      }
    }
    for (int64_t i = 0; i < count; ++i) {
      values[i] = store<T>(best[i]);
      WindowMaximum maximum{-1, 0};
      if (int64_t tap = found[i]; tap >= 0)
        maximum = {starts[size_t(tap / taps)] + (begin + i) * stride + offsetOf(tap % taps), tap};
      tell(i, maximum);
    }
  }

private:
  using C = Compute<T>;

  int64_t offsetOf(int64_t tap) const {
    return tap * pool.window.dilations[last] - pool.window.low[last];
  }

  /// Computes the offsets of the rows that the windows of result row `row` read; -1 for a row
  /// outside of the plane.
  void startsOf(int64_t row) {
    int64_t origin[32];
    for (size_t d = last; d-- > 0;) {
      origin[d] = row % pool.dst[d] * pool.window.strides[d] - pool.window.low[d];
      row /= pool.dst[d];
    }
    for (size_t outer = 0; outer < starts.size(); ++outer) {
      auto rest = int64_t(outer);
      int64_t start = 0;
      bool inside = true;
      for (size_t d = last; d-- > 0;) {
        int64_t at = origin[d] + rest % pool.window.sizes[d] * pool.window.dilations[d];
        rest /= pool.window.sizes[d];
        inside &= at >= 0 && at < pool.src[d];
        start += at * pool.srcStrides[d];
      }
      starts[outer] = inside ? start : -1;
    }
  }

  const Pooling &pool;
  const size_t last;
  const int64_t taps; ///< taps along a row
  std::vector<int64_t> starts;
};

/// Computes all results of max pooling. Calls `tell(item, maximum)` for each result, where `item`
/// is the result's index.
template <typename T, typename Tell>
void runPool(const Pooling &pool, void *const *buffers, const CallContext &context, Tell tell) {
  const T *src = static_cast<const T *>(buffers[0]);
  T *values = static_cast<T *>(buffers[1]);
  parallelFor(context.threads, pool.resultElements(), std::max<int64_t>(1, 4096 / pool.taps),
              [&](int64_t begin, int64_t end, int) {
                Row<T> row(pool);
                const int64_t width = pool.dst[pool.rank() - 1];
                for (int64_t item = begin; item < end;) {
                  int64_t inRow = item % width, count = std::min({width - inRow, end - item, kRun});
                  row.run(src + item / pool.outputs * pool.plane, item % pool.outputs / width,
                          inRow, count, values + item,
                          [&](int64_t i, WindowMaximum maximum) { tell(item + i, maximum); });
                  item += count;
                }
              });
}

/// Returns the index of a pixel if the first spatial dimension varies fastest (`storage_order` =
/// 1).
int64_t toColumnMajorIndex(const Pooling &pool, int64_t pixel) {
  int64_t step = pool.plane, columnMajor = 0;
  for (size_t d = pool.rank(); d-- > 0;) {
    step /= pool.src[d];
    columnMajor += pixel % pool.src[d] * step;
    pixel /= pool.src[d];
  }
  return columnMajor;
}

} // namespace

std::unique_ptr<LibraryCall> makeMaxPoolIndices(KernelRequest &request) {
  const auto fields = request.read<schema::MaxPoolIndices>();
  Pooling pool(fields);
  const DType dtype = fields.dtype;
  const bool columns = fields.storageOrder == 1;
  request.need("src", pool.sourceElements(), dtype, false);
  request.need("values", pool.resultElements(), dtype, true);
  request.need("indices", pool.resultElements(), DType::I64, true);
  request.end();
  return makeCall("max_pool_indices", [=](void *const *buffers, const CallContext &context) {
    int64_t *indices = static_cast<int64_t *>(buffers[2]);
    auto tell = [&](int64_t item, WindowMaximum maximum) {
      int64_t pixel =
          columns && maximum.at >= 0 ? toColumnMajorIndex(pool, maximum.at) : maximum.at;
      indices[item] = pixel < 0 ? -1 : item / pool.outputs * pool.plane + pixel;
    };
    dispatch(dtype, [&](auto type) {
      runPool<typename decltype(type)::type>(pool, buffers, context, tell);
    });
  });
}

std::unique_ptr<LibraryCall> makeMaxPoolPositions(KernelRequest &request) {
  const auto fields = request.read<schema::PoolCall>();
  Pooling pool(fields);
  const DType dtype = fields.dtype;
  if (pool.taps > 256)
    fields.complain("positions are bytes, so the window must have at most 256 elements");
  request.need("src", pool.sourceElements(), dtype, false);
  request.need("values", pool.resultElements(), dtype, true);
  request.need("positions", pool.resultElements(), DType::U8, true);
  request.end();
  return makeCall("max_pool_positions", [=](void *const *buffers, const CallContext &context) {
    uint8_t *positions = static_cast<uint8_t *>(buffers[2]);
    auto tell = [&](int64_t item, WindowMaximum maximum) {
      positions[item] = static_cast<uint8_t>(maximum.tap);
    };
    dispatch(dtype, [&](auto type) {
      runPool<typename decltype(type)::type>(pool, buffers, context, tell);
    });
  });
}

} // namespace dlc::runtime::builtin
