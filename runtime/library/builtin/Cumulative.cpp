//===- Cumulative.cpp - running sums and products along an axis ---------------===//
//
// {"kind": "cumulative", "op": "sum|prod", "dtype", "outer", "len", "inner", "exclusive" = false,
//  "reverse" = false}
//   buffers: src, dst (may be the same). f32 and the half types accumulate in f64 and f32; integers
//   wrap.
//
//===---------------------------------------------------------------------------===//
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/builtin/Builtin.h"
#include "runtime/program/Numeric.h"

namespace dlc::runtime::builtin {

namespace {

struct Options {
  bool product, exclusive, reverse;
};

/// One stored rounding of a wider sum beats a sum of roundings.
template <typename T>
using Accumulator = std::conditional_t<std::is_same_v<T, float>, double, Compute<T>>;

template <typename T>
void cumulate(void *const *buffers, const CallContext &context, const Lines &lines,
              Options options) {
  using A = Accumulator<T>;
  constexpr int64_t kColumns = 64;
  const T *src = static_cast<const T *>(buffers[0]);
  T *dst = static_cast<T *>(buffers[1]);
  auto join = [&](A a, Compute<T> b) -> A {
    if constexpr (std::is_same_v<T, float>)
      return options.product ? a * b : a + b;
    else
      return options.product ? wrappingMul<T>(a, b) : wrappingAdd<T>(a, b);
  };
  // Items are blocks of neighbouring columns, so that memory is walked along its lines.
  int64_t blocks = (lines.inner + kColumns - 1) / kColumns;
  int64_t perBlock = std::max<int64_t>(1, lines.len * std::min(lines.inner, kColumns));
  parallelFor(context.threads, lines.outer * blocks, std::max<int64_t>(1, 16384 / perBlock),
              [&](int64_t begin, int64_t end, int) {
                for (int64_t item = begin; item < end; ++item) {
                  int64_t o = item / blocks, first = item % blocks * kColumns;
                  int64_t width = std::min(kColumns, lines.inner - first);
                  A sums[kColumns];
                  std::fill(sums, sums + width, A(options.product ? 1 : 0));
                  for (int64_t step = 0; step < lines.len; ++step) {
                    int64_t l = options.reverse ? lines.len - 1 - step : step;
                    int64_t at = (o * lines.len + l) * lines.inner + first;
                    for (int64_t i = 0; i < width; ++i) {
                      A before = sums[i];
                      sums[i] = join(before, load(src[at + i]));
                      A shown = options.exclusive ? before : sums[i];
                      dst[at + i] = store<T>(static_cast<Compute<T>>(shown));
                    }
                  }
                }
              });
}

} // namespace

std::unique_ptr<LibraryCall> makeCumulative(Request &request) {
  Lines lines(request);
  DType dtype = request.dtype("dtype");
  std::string op = request.word("op", "sum");
  if (op != "sum" && op != "prod")
    request.complain("op '" + op + "': sum or prod expected");
  Options options{op == "prod", request.flag("exclusive", false), request.flag("reverse", false)};
  request.need("src", lines.elements(), dtype, false);
  request.need("dst", lines.elements(), dtype, true);
  request.end();
  return makeCall("cumulative_" + op, [=](void *const *buffers, const CallContext &context) {
    dispatch(dtype, [&](auto type) {
      cumulate<typename decltype(type)::type>(buffers, context, lines, options);
    });
  });
}

} // namespace dlc::runtime::builtin
