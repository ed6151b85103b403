//===- Cumulative.cpp - running sums and products along an axis ---------------===//
//
// Kind cumulative of schema/Builtin.def:
//   buffers: src, dst (may be the same). f32 accumulates in f64, the half types in f32; integers
//   wrap around. If there are few long lines of contiguous elements, they are split into pieces.
//   The split depends only on the shape.
//
//===---------------------------------------------------------------------------===//
#include "runtime/library/builtin/Cumulative.h"

#include "runtime/device/cpu/Features.h"
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/builtin/Builtin.h"
#include "runtime/program/Numeric.h"

#include <algorithm>
#include <array>
#include <utility>

namespace dlc::runtime::builtin {

namespace {

/// Operation and kind of the scan as compile-time constants, so that the loops are specialized.
template <bool isProduct, bool isExclusive> struct Options {
  static constexpr bool product = isProduct, exclusive = isExclusive;
  bool reverse;
};

/// Type of the running value. f32 accumulates in f64, so that each result is rounded only once.
template <typename T>
using Accumulator = std::conditional_t<std::is_same_v<T, float>, double, Compute<T>>;

template <typename T, typename O>
Accumulator<T> accumulate(O options, Accumulator<T> a, Accumulator<T> b) {
  if constexpr (std::is_same_v<T, float>)
    return options.product ? a * b : a + b;
  else
    return options.product ? wrappingMul<T>(a, b) : wrappingAdd<T>(a, b);
}

template <typename T, typename O> Accumulator<T> getNeutralElement(O options) {
  return static_cast<Accumulator<T>>(options.product ? 1 : 0);
}

/// Number of chains (lines or pieces of lines) that are scanned interleaved: an element depends
/// only on the previous element of its own chain.
constexpr int64_t kChains = 8;

/// Scan of lines with contiguous elements, which are split into pieces if there are few long lines.
template <typename T, typename O> class Rows {
public:
  using A = Accumulator<T>;
  Rows(void *const *buffers, const AxisSplit &lines, O options, int threads)
      : src(static_cast<const T *>(buffers[0])), dst(static_cast<T *>(buffers[1])), lines(lines),
        options(options), threads(threads), stride(options.reverse ? -1 : 1) {
    constexpr int64_t shortest = 1024, few = 64;
    if (lines.outer > 0 && lines.outer < few)
      pieces = std::clamp<int64_t>(lines.len / shortest, 1, kMax / lines.outer);
    length = (lines.len + pieces - 1) / pieces;
  }

  void run() {
    int64_t chains = lines.outer * pieces, groups = (chains + kChains - 1) / kChains;
    int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, kChains * length));
    if (pieces > 1) {
      parallelFor(threads, groups, grain, [&](int64_t begin, int64_t end, int) {
        for (int64_t c = begin * kChains; c < std::min(end * kChains, chains); ++c)
          before[c] = total(c);
      });
      for (int64_t c = 0; c < chains; c += pieces) {
        A sum = getNeutralElement<T>(options);
        for (int64_t p = c; p < c + pieces; ++p)
          sum = accumulate<T>(options, std::exchange(before[p], sum), sum);
      }
    }
    parallelFor(threads, groups, grain, [&](int64_t begin, int64_t end, int) {
      for (int64_t g = begin; g < end; ++g)
        walk(g * kChains, std::min(kChains, chains - g * kChains));
    });
  }

private:
  /// Returns the index of the element at which the scan of a chain starts. A chain is one of the
  /// `pieces` of a line. They are numbered in the direction of the scan, which starts at the line's
  /// end if `reverse` is set.
  int64_t startOf(int64_t chain) const {
    int64_t step = chain % pieces * length;
    return chain / pieces * lines.len + (options.reverse ? lines.len - 1 - step : step);
  }
  int64_t lengthOf(int64_t chain) const {
    return std::clamp<int64_t>(lines.len - chain % pieces * length, 0, length);
  }

  A total(int64_t chain) const {
    A totals[kChains];
    std::fill(totals, totals + kChains, getNeutralElement<T>(options));
    int64_t count = lengthOf(chain), first = startOf(chain);
    const T *at = src + (options.reverse ? first - count + 1 : first);
    for (int64_t i = 0; i + kChains <= count; i += kChains)
      for (int64_t k = 0; k < kChains; ++k)
        totals[k] = accumulate<T>(options, totals[k], load(at[i + k]));
    for (int64_t i = count / kChains * kChains; i < count; ++i)
      totals[0] = accumulate<T>(options, totals[0], load(at[i]));
    for (int64_t k = 1; k < kChains; ++k)
      totals[0] = accumulate<T>(options, totals[0], totals[k]);
    return totals[0];
  }

  void walk(int64_t first, int64_t count) const {
    A sums[kChains];
    int64_t at[kChains], shortest = length;
    for (int64_t k = 0; k < kChains; ++k) {
      int64_t chain = first + std::min(k, count - 1);
      sums[k] = pieces > 1 ? before[chain] : getNeutralElement<T>(options);
      at[k] = startOf(chain);
      shortest = std::min(shortest, lengthOf(chain));
    }
    auto step = [&](int64_t k, int64_t i) {
      A sum = accumulate<T>(options, sums[k], load(src[at[k] + i * stride]));
      A shown = options.exclusive ? sums[k] : sum;
      dst[at[k] + i * stride] = store<T>(static_cast<Compute<T>>(shown));
      sums[k] = sum;
    };
    int64_t together = count == kChains ? shortest : 0;
    for (int64_t i = 0; i < together; ++i)
      for (int64_t k = 0; k < kChains; ++k)
        step(k, i);
    for (int64_t k = 0; k < count; ++k)
      for (int64_t i = together; i < lengthOf(first + k); ++i)
        step(k, i);
  }

  static constexpr int64_t kMax = 512;
  const T *src;
  T *dst;
  const AxisSplit &lines;
  O options;
  int threads;
  int64_t stride, pieces = 1, length = 0;
  std::array<A, kMax> before; ///< running value before each piece of a line
};

const CumulativeKernels *selectVectorKernels() {
  return selectKernels(
      hostLanes(), [] { return &cumulativeScalar; }, [] { return &cumulativeAvx2; },
      [] { return &cumulativeAvx512; });
}

/// Scans columns of f32 by vector kernels, in blocks of columns that are small enough to give each
/// thread work.
template <typename O>
void cumulateColumns(const CumulativeKernels &kernels, void *const *buffers, int threads,
                     const AxisSplit &lines, O options) {
  const float *src = static_cast<const float *>(buffers[0]);
  float *dst = static_cast<float *>(buffers[1]);
  if (lines.elements() == 0)
    return;
  int64_t walks = (lines.inner + kernels.together - 1) / kernels.together;
  int64_t wanted = std::clamp<int64_t>(4 * threads / std::max<int64_t>(1, lines.outer), 1, walks);
  int64_t columns = (walks + wanted - 1) / wanted * kernels.together;
  int64_t blocks = (lines.inner + columns - 1) / columns;
  int64_t perBlock = std::max<int64_t>(1, lines.len * std::min(lines.inner, columns));
  int64_t last = options.reverse ? (lines.len - 1) * lines.inner : 0;
  parallelFor(threads, lines.outer * blocks, std::max<int64_t>(1, 16384 / perBlock),
              [&](int64_t begin, int64_t end, int) {
                for (int64_t item = begin; item < end; ++item) {
                  int64_t first = item % blocks * columns;
                  int64_t at = item / blocks * lines.len * lines.inner + first + last;
                  kernels.columns({std::min(columns, lines.inner - first), lines.len,
                                   options.reverse ? -lines.inner : lines.inner, O::product,
                                   O::exclusive},
                                  src + at, dst + at);
                }
              });
}

template <typename T, typename O>
void computeCumulative(void *const *buffers, const CallContext &context, const AxisSplit &lines,
                       O options) {
  using A = Accumulator<T>;
  constexpr int64_t kMin = 64, kMax = 1024;
  if (lines.inner == 1)
    return Rows<T, O>(buffers, lines, options, context.threads).run();
  if constexpr (std::is_same_v<T, float>)
    if (const CumulativeKernels *kernels = selectVectorKernels())
      return cumulateColumns(*kernels, buffers, context.threads, lines, options);
  const T *src = static_cast<const T *>(buffers[0]);
  T *dst = static_cast<T *>(buffers[1]);
  // A work item is a block of adjacent columns, so that memory is read along its cache lines. The
  // blocks are small enough to give each thread work.
  int64_t columns =
      std::clamp(lines.outer * lines.inner / std::max(1, context.threads), kMin, kMax);
  int64_t blocks = (lines.inner + columns - 1) / columns;
  int64_t perBlock = std::max<int64_t>(1, lines.len * std::min(lines.inner, columns));
  parallelFor(context.threads, lines.outer * blocks, std::max<int64_t>(1, 16384 / perBlock),
              [&](int64_t begin, int64_t end, int) {
                for (int64_t item = begin; item < end; ++item) {
                  int64_t o = item / blocks, first = item % blocks * columns;
                  int64_t width = std::min(columns, lines.inner - first);
                  A sums[kMax];
                  std::fill(sums, sums + width, getNeutralElement<T>(options));
                  for (int64_t step = 0; step < lines.len; ++step) {
                    int64_t l = options.reverse ? lines.len - 1 - step : step;
                    int64_t at = (o * lines.len + l) * lines.inner + first;
                    if constexpr (O::exclusive) {
                      for (int64_t i = 0; i < width; ++i) {
                        A before = std::exchange(
                            sums[i], accumulate<T>(options, sums[i], load(src[at + i])));
                        dst[at + i] = store<T>(static_cast<Compute<T>>(before));
                      }
                    } else {
                      // All loads precede the stores: a load that shortly follows a store whose
                      // address has the same low bits would wait for that store (4K aliasing).
                      for (int64_t i = 0; i < width; ++i)
                        sums[i] = accumulate<T>(options, sums[i], load(src[at + i]));
                      for (int64_t i = 0; i < width; ++i)
                        dst[at + i] = store<T>(static_cast<Compute<T>>(sums[i]));
                    }
                  }
                }
              });
}

} // namespace

std::unique_ptr<LibraryCall> makeCumulative(KernelRequest &request) {
  const auto fields = request.read<schema::Cumulative>();
  AxisSplit lines(fields);
  const DType dtype = fields.dtype;
  const bool exclusive = fields.exclusive, reverse = fields.reverse;
  request.need("src", lines.elements(), dtype, false);
  request.need("dst", lines.elements(), dtype, true);
  request.end();
  auto call = [&](auto options) {
    return makeCall(std::string("cumulative_") + nameOf(fields.op),
                    [=](void *const *buffers, const CallContext &context) {
                      dispatch(dtype, [&](auto type) {
                        computeCumulative<typename decltype(type)::type>(buffers, context, lines,
                                                                         options);
                      });
                    });
  };
  if (fields.op == schema::Accumulation::Product)
    return exclusive ? call(Options<true, true>{reverse}) : call(Options<true, false>{reverse});
  return exclusive ? call(Options<false, true>{reverse}) : call(Options<false, false>{reverse});
}

} // namespace dlc::runtime::builtin
