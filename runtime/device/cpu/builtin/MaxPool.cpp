//===- MaxPool.cpp - max pooling that also tells where ------------------------===//
//
// {"kind": "max_pool_indices", "dtype", "src": [N, C, spatial...], "dst": [N, C, spatial...],
// "kernel",
//  "strides", "dilations" (0 = dense, as oneDNN counts), "pads_l", "storage_order" = 0}
//   buffers: src, values, indices (i64: position in all of src; with storage_order 1 the spatial
//   part is counted with the first spatial dimension fastest). The first of equal maxima; NaN is
//   the largest. A window wholly in the padding gives the least value and index -1.
//
//===---------------------------------------------------------------------------===//
#include "runtime/device/cpu/Parallel.h"
#include "runtime/device/cpu/builtin/Builtin.h"
#include "runtime/device/cpu/builtin/Numeric.h"

namespace dlc::runtime::builtin {

namespace {

struct Pool {
  DType dtype;
  std::vector<int64_t> src, dst, kernel, strides, steps, pads;
  std::vector<int64_t> elementStrides, indexStrides; // of the spatial dimensions
  int64_t planes, planeElements, outputs, taps;
};

template <typename T>
void poolOne(const Pool &pool, const T *plane, int64_t output, T &value, int64_t &index) {
  using C = Compute<T>;
  size_t rank = pool.src.size();
  int64_t origin[32];
  for (size_t d = rank; d-- > 0;) {
    origin[d] = output % pool.dst[d] * pool.strides[d] - pool.pads[d];
    output /= pool.dst[d];
  }
  C best = lowest<C>();
  int64_t bestIndex = -1;
  for (int64_t tap = 0; tap < pool.taps; ++tap) {
    int64_t rest = tap, at = 0, position = 0;
    bool inside = true;
    for (size_t d = rank; d-- > 0;) {
      int64_t coordinate = origin[d] + rest % pool.kernel[d] * pool.steps[d];
      rest /= pool.kernel[d];
      inside &= coordinate >= 0 && coordinate < pool.src[d];
      at += coordinate * pool.elementStrides[d];
      position += coordinate * pool.indexStrides[d];
    }
    if (!inside)
      continue;
    C candidate = load(plane[at]);
    if (bestIndex < 0 || lessThan(best, candidate)) {
      best = candidate;
      bestIndex = position;
    }
  }
  value = store<T>(best);
  index = bestIndex;
}

template <typename T>
void runPool(const Pool &pool, void *const *buffers, const CallContext &context) {
  const T *src = static_cast<const T *>(buffers[0]);
  T *values = static_cast<T *>(buffers[1]);
  int64_t *indices = static_cast<int64_t *>(buffers[2]);
  parallelFor(context.threads, pool.planes * pool.outputs, std::max<int64_t>(1, 4096 / pool.taps),
              [&](int64_t begin, int64_t end, int) {
                for (int64_t item = begin; item < end; ++item) {
                  int64_t base = item / pool.outputs * pool.planeElements;
                  poolOne(pool, src + base, item % pool.outputs, values[item], indices[item]);
                  if (indices[item] >= 0)
                    indices[item] += base;
                }
              });
}

} // namespace

std::unique_ptr<LibraryCall> makeMaxPoolIndices(const Request &request) {
  Pool pool;
  pool.dtype = request.dtype("dtype");
  std::vector<int64_t> src = request.sizes("src"), dst = request.sizes("dst");
  if (src.size() < 3 || src.size() != dst.size() || src[0] != dst[0] || src[1] != dst[1])
    request.complain("src and dst must be [N, C, spatial...] with the same N and C");
  size_t rank = src.size() - 2;
  pool.src.assign(src.begin() + 2, src.end());
  pool.dst.assign(dst.begin() + 2, dst.end());
  auto list = [&](const char *name, int64_t otherwise) {
    std::vector<int64_t> values =
        request.has(name) ? request.sizes(name) : std::vector<int64_t>(rank, otherwise);
    for (int64_t value : values)
      if (values.size() != rank || value > INT32_MAX)
        request.complain(std::string(name) + " must have one size per spatial dimension");
    if (values.size() != rank)
      request.complain(std::string(name) + " must have one size per spatial dimension");
    return values;
  };
  pool.kernel = list("kernel", -1);
  pool.strides = list("strides", 1);
  pool.steps = list("dilations", 0);
  pool.pads = list("pads_l", 0);
  for (int64_t &step : pool.steps)
    ++step;
  for (int64_t size : pool.kernel)
    if (size < 1)
      request.complain("kernel sizes must be at least 1");
  pool.planes = src[0] * src[1];
  pool.planeElements = product(pool.src);
  pool.outputs = product(pool.dst);
  pool.taps = product(pool.kernel);
  int64_t order = request.integer("storage_order", 0);
  pool.elementStrides.resize(rank);
  pool.indexStrides.resize(rank);
  int64_t step = 1;
  for (size_t d = rank; d-- > 0;) {
    pool.elementStrides[d] = step;
    step *= pool.src[d];
  }
  step = 1;
  for (size_t d = 0; d < rank; ++d) {
    pool.indexStrides[d] = order == 1 ? step : pool.elementStrides[d];
    step *= pool.src[d];
  }
  request.expectBuffers(3);
  request.need(0, "src", product(src), pool.dtype, false);
  request.need(1, "values", product(dst), pool.dtype, true);
  request.need(2, "indices", product(dst), DType::I64, true);
  return makeCall("max_pool_indices", [pool](void *const *buffers, const CallContext &context) {
    dispatch(pool.dtype,
             [&](auto type) { runPool<typename decltype(type)::type>(pool, buffers, context); });
  });
}

} // namespace dlc::runtime::builtin
