//===- PoolGrad.cpp - gradients of max and average pooling ----------------===//
//
// Kind max_pool_grad of schema/Builtin.def:
//   the fields have the values of the forward operation.
//   buffers: dy (shape dst), positions (u8, shape dst: position in the window), dx (shape src). A
//   position outside of src or of the window adds nothing.
//
// Kind avg_pool_grad of schema/Builtin.def:
//   buffers: dy, dx. With include_pad (`count_include_pad`) the padding counts as elements, but at
//   the high end only `pads_counted` of it.
//
// Sums of 16-bit floats are kept in f32.
//
//===---------------------------------------------------------------------------===//
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/builtin/Pooling.h"
#include "runtime/program/Numeric.h"

namespace dlc::runtime::builtin {

namespace {

/// Calls `visit(output, reaches)` for each window of a plane in row-major order. `reaches` has the
/// window's taps inside of the image, for each dimension.
template <typename Visit>
void forEachWindow(const Pooling &pool, const std::vector<std::vector<TapRange>> &reaches,
                   Visit visit) {
  size_t rank = pool.rank();
  int64_t at[32] = {};
  const TapRange *here[32];
  for (size_t d = 0; d < rank && pool.outputs; ++d)
    here[d] = reaches[d].data();
  for (int64_t output = 0; output < pool.outputs; ++output) {
    visit(output, here);
    for (size_t d = rank; d-- > 0;) {
      at[d] = at[d] + 1 == pool.dst[d] ? 0 : at[d] + 1;
      here[d] = reaches[d].data() + at[d];
      if (at[d])
        break;
    }
  }
}

/// Adds `value` to the sums at all taps of a window that are inside of the image, for the
/// dimensions from d on.
template <typename C>
void addToWindow(const Pooling &pool, const TapRange *const *here, size_t d, C *sums, C value) {
  const TapRange &reach = *here[d];
  if (reach.first >= reach.last)
    return;
  int64_t step = pool.window.dilations[d] * pool.srcStrides[d];
  C *to = sums + reach.origin * pool.srcStrides[d] + reach.first * step;
  for (int64_t tap = reach.first; tap < reach.last; ++tap, to += step)
    if (d + 1 == pool.rank())
      *to += value;
    else
      addToWindow(pool, here, d + 1, to, value);
}

/// Computes every plane of dx: calls `add(plane, sums, thread)` with sums that are initialized to
/// 0, and stores the sums.
template <typename T, typename Add>
void sumPlanes(const Pooling &pool, T *dx, const CallContext &context, Add add) {
  using C = Compute<T>;
  parallelFor(context.threads, pool.planes, 1, [&](int64_t begin, int64_t end, int thread) {
    for (int64_t plane = begin; plane < end; ++plane) {
      T *result = dx + plane * pool.plane;
      C *sums = reinterpret_cast<C *>(result);
      if constexpr (isHalf<T>)
        sums = static_cast<C *>(context.scratch) + thread * pool.plane;
      std::fill(sums, sums + pool.plane, C(0));
      add(plane, sums, thread);
      if constexpr (isHalf<T>)
        for (int64_t i = 0; i < pool.plane; ++i)
          result[i] = store<T>(sums[i]);
    }
  });
}

/// Adds the gradient of average pooling for an image. Each row of dy is first summed into `line`,
/// which is then added to all rows of dx that the row's windows reach.
template <typename C, typename T>
void addAverages(const Pooling &pool, const std::vector<std::vector<TapRange>> &reaches,
                 const T *dy, C *sums, C *line) {
  int64_t width = pool.src[1], step = pool.window.dilations[1];
  for (const TapRange &down : reaches[0]) {
    std::fill(line, line + width, C(0));
    for (const TapRange &across : reaches[1]) {
      int64_t count = down.counted * across.counted;
      C value = count > 0 ? C(load(*dy) / C(count)) : C(0);
      ++dy;
      for (int64_t tap = across.first; tap < across.last; ++tap)
        line[across.origin + tap * step] += value;
    }
    for (int64_t tap = down.first; tap < down.last; ++tap) {
      C *row = sums + (down.origin + tap * pool.window.dilations[0]) * width;
      for (int64_t x = 0; x < width; ++x)
        row[x] += line[x];
    }
  }
}

uint64_t computeScratchBytes(const KernelRequest &request, const Pooling &pool, DType dtype) {
  bool half = dtype == DType::F16 || dtype == DType::BF16;
  return half ? uint64_t(std::max(1, request.threads)) * uint64_t(pool.plane) * sizeof(float) : 0;
}

} // namespace

std::unique_ptr<LibraryCall> makeMaxPoolGrad(KernelRequest &request) {
  const auto fields = request.read<schema::PoolCall>();
  Pooling pool(fields);
  const DType dtype = fields.dtype;
  requireFloating(fields, "dtype", dtype);
  request.need("dy", pool.resultElements(), dtype, false);
  request.need("positions", pool.resultElements(), DType::U8, false);
  request.need("dx", pool.sourceElements(), dtype, true);
  request.end();
  auto reaches = reachesOf(pool, false, {});
  auto run = [pool, dtype, reaches](void *const *buffers, const CallContext &context) {
    const uint8_t *positions = static_cast<const uint8_t *>(buffers[1]);
    dispatch(dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      const T *dy = static_cast<const T *>(buffers[0]);
      auto window = [&](int64_t from, Compute<T> *sums, const TapRange *const *here) {
        int64_t rest = positions[from], at = 0;
        for (size_t d = pool.rank(); d-- > 0;) {
          int64_t tap = d ? rest % pool.window.sizes[d] : rest;
          rest /= pool.window.sizes[d];
          if (tap < here[d]->first || tap >= here[d]->last)
            return;
          at += (here[d]->origin + tap * pool.window.dilations[d]) * pool.srcStrides[d];
        }
        sums[at] += load(dy[from]);
      };
      auto add = [&](int64_t plane, Compute<T> *sums, int) {
        forEachWindow(pool, reaches, [&](int64_t output, const TapRange *const *here) {
          window(plane * pool.outputs + output, sums, here);
        });
      };
      sumPlanes(pool, static_cast<T *>(buffers[2]), context, add);
    });
  };
  return makeCall("max_pool_grad", run, computeScratchBytes(request, pool, dtype));
}

std::unique_ptr<LibraryCall> makeAvgPoolGrad(KernelRequest &request) {
  const auto fields = request.read<schema::AvgPoolGrad>();
  Pooling pool(fields);
  const DType dtype = fields.dtype;
  requireFloating(fields, "dtype", dtype);
  request.need("dy", pool.resultElements(), dtype, false);
  request.need("dx", pool.sourceElements(), dtype, true);
  request.end();
  auto reaches =
      reachesOf(pool, fields.includePad.value_or(false), countedPads(fields, pool.rank()));
  // The threads' lines follow their f32 planes, which only 16-bit floats require, in the scratch
  // memory.
  uint64_t linesAt = computeScratchBytes(request, pool, dtype);
  uint64_t lines = pool.rank() == 2 ? uint64_t(std::max(1, request.threads)) *
                                          uint64_t(pool.src[1]) * sizeof(double)
                                    : 0;
  auto run = [pool, dtype, reaches, linesAt](void *const *buffers, const CallContext &context) {
    dispatch(dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      using C = Compute<T>;
      const T *dy = static_cast<const T *>(buffers[0]);
      auto add = [&](int64_t plane, C *sums, int thread) {
        const T *from = dy + plane * pool.outputs;
        if (pool.rank() == 2) {
          auto *lines = reinterpret_cast<C *>(static_cast<char *>(context.scratch) + linesAt);
          addAverages(pool, reaches, from, sums, lines + thread * pool.src[1]);
          return;
        }
        forEachWindow(pool, reaches, [&](int64_t output, const TapRange *const *here) {
          int64_t count = 1;
          for (size_t d = 0; d < pool.rank(); ++d)
            count *= here[d]->counted;
          if (count > 0)
            addToWindow(pool, here, 0, sums, C(load(from[output]) / C(count)));
        });
      };
      sumPlanes(pool, static_cast<T *>(buffers[1]), context, add);
    });
  };
  return makeCall("avg_pool_grad", run, linesAt + lines);
}

} // namespace dlc::runtime::builtin
