//===- MaxPool.cpp - max pooling that also tells where ------------------------===//
//
// {"kind": "max_pool_indices", "dtype", "src", "dst", "kernel", "strides", "dilations", "pads_l"
// (see
//  Pooling.h), "storage_order" = 0}
//   buffers: src, values, indices (i64: position in all of src; with storage_order 1 the spatial
//   part is counted with the first spatial dimension fastest). The first of equal maxima; NaN is
//   the largest. A window wholly in the padding gives the least value and index -1.
//
// {"kind": "max_pool_positions", ..} the same with positions (u8: place in the window, row-major; 0
//   in a window wholly in the padding), for windows of at most 256 elements.
//
//===---------------------------------------------------------------------------===//
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/builtin/Pooling.h"
#include "runtime/program/Numeric.h"

namespace dlc::runtime::builtin {

namespace {

struct Maximum {
  int64_t at = -1, tap = 0; // in the plane and in the window
};

/// The largest element that a window meets.
template <typename T>
Maximum poolOne(const Pooling &pool, const T *plane, int64_t output, T &value) {
  using C = Compute<T>;
  size_t rank = pool.rank();
  int64_t origin[32];
  for (size_t d = rank; d-- > 0;) {
    origin[d] = output % pool.dst[d] * pool.window.strides[d] - pool.window.low[d];
    output /= pool.dst[d];
  }
  C best = lowest<C>();
  Maximum found;
  for (int64_t tap = 0; tap < pool.taps; ++tap) {
    int64_t rest = tap, at = 0;
    bool inside = true;
    for (size_t d = rank; d-- > 0;) {
      int64_t coordinate = origin[d] + rest % pool.window.sizes[d] * pool.window.dilations[d];
      rest /= pool.window.sizes[d];
      inside &= coordinate >= 0 && coordinate < pool.src[d];
      at += coordinate * pool.srcStrides[d];
    }
    if (!inside)
      continue;
    C candidate = load(plane[at]);
    if (found.at < 0 || lessThan(best, candidate)) {
      best = candidate;
      found = {at, tap};
    }
  }
  value = store<T>(best);
  return found;
}

/// Calls `tell(item, maximum)` for each result element.
template <typename T, typename Tell>
void runPool(const Pooling &pool, void *const *buffers, const CallContext &context, Tell tell) {
  const T *src = static_cast<const T *>(buffers[0]);
  T *values = static_cast<T *>(buffers[1]);
  parallelFor(context.threads, pool.resultElements(), std::max<int64_t>(1, 4096 / pool.taps),
              [&](int64_t begin, int64_t end, int) {
                for (int64_t item = begin; item < end; ++item)
                  tell(item, poolOne(pool, src + item / pool.outputs * pool.plane,
                                     item % pool.outputs, values[item]));
              });
}

/// A pixel counted with the first spatial dimension fastest.
int64_t columnMajor(const Pooling &pool, int64_t pixel) {
  int64_t step = pool.plane, turned = 0;
  for (size_t d = pool.rank(); d-- > 0;) {
    step /= pool.src[d];
    turned += pixel % pool.src[d] * step;
    pixel /= pool.src[d];
  }
  return turned;
}

} // namespace

std::unique_ptr<LibraryCall> makeMaxPoolIndices(Request &request) {
  Pooling pool(request);
  DType dtype = request.dtype("dtype");
  bool columns = request.integer("storage_order", 0, 1, 0) == 1;
  request.need("src", pool.sourceElements(), dtype, false);
  request.need("values", pool.resultElements(), dtype, true);
  request.need("indices", pool.resultElements(), DType::I64, true);
  request.end();
  return makeCall("max_pool_indices", [=](void *const *buffers, const CallContext &context) {
    int64_t *indices = static_cast<int64_t *>(buffers[2]);
    auto tell = [&](int64_t item, Maximum maximum) {
      int64_t pixel = columns && maximum.at >= 0 ? columnMajor(pool, maximum.at) : maximum.at;
      indices[item] = pixel < 0 ? -1 : item / pool.outputs * pool.plane + pixel;
    };
    dispatch(dtype, [&](auto type) {
      runPool<typename decltype(type)::type>(pool, buffers, context, tell);
    });
  });
}

std::unique_ptr<LibraryCall> makeMaxPoolPositions(Request &request) {
  Pooling pool(request);
  DType dtype = request.dtype("dtype");
  if (pool.taps > 256)
    request.complain("a position is a byte: the window must have at most 256 elements");
  request.need("src", pool.sourceElements(), dtype, false);
  request.need("values", pool.resultElements(), dtype, true);
  request.need("positions", pool.resultElements(), DType::U8, true);
  request.end();
  return makeCall("max_pool_positions", [=](void *const *buffers, const CallContext &context) {
    uint8_t *positions = static_cast<uint8_t *>(buffers[2]);
    auto tell = [&](int64_t item, Maximum maximum) {
      positions[item] = static_cast<uint8_t>(maximum.tap);
    };
    dispatch(dtype, [&](auto type) {
      runPool<typename decltype(type)::type>(pool, buffers, context, tell);
    });
  });
}

} // namespace dlc::runtime::builtin
