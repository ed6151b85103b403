//===- Ends.h - sums of products become results --------------------------------===//
//
// For the files compiled for one processor alone.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_SIMD_ENDS_H
#define DLC_RUNTIME_LIBRARY_SIMD_ENDS_H

#include "runtime/library/simd/Activations.h"
#include "runtime/library/simd/Post.h"

namespace dlc::simd {
namespace {

/// Where results go, and which row and column of all results the first one is.
struct Results {
  float *to;
  int64_t row; ///< elements from one row to the next
  int64_t firstRow, firstColumn;
};

template <int V> struct Ends {
  /// Rows of V sums, of which the first `count` are wanted.
  struct Walk {
    float *sums;
    int64_t sumRow, rows, count;

    template <typename Change> DLC_INLINE void each(const Change &change) const {
      for (int64_t r = 0; r < rows; ++r)
        store<V>(sums + r * sumRow, change(load<V>(sums + r * sumRow)));
    }
    /// And what lies beside them elsewhere; a `step` of 0 repeats a row's only element.
    template <typename Change>
    DLC_INLINE void with(const float *other, int64_t row, int64_t step,
                         const Change &change) const {
      for (int64_t r = 0; r < rows; ++r, other += row) {
        Vec<V> y = step == 0 ? splat<V>(*other) : loadFirst<V>(other, count);
        store<V>(sums + r * sumRow, change(load<V>(sums + r * sumRow), y));
      }
    }
  };

  /// Sums become results, by the epilogue where there is one, or are added to the sums that are
  /// there.
  [[gnu::noinline]] static void end(const Walk &walk, const Results &results,
                                    const Epilogue *epilogue, bool adds) {
    if (epilogue && epilogue->count == 1 && epilogue->posts[0].kind == PostKind::Activate && !adds)
      return activate(*epilogue, walk, results);
    if (adds)
      walk.with(results.to, results.row, 1, [](Vec<V> v, Vec<V> old) { return v + old; });
    if (epilogue) {
      Vec<V> bias = biasOf(*epilogue, walk, results);
      float scale = epilogue->scale;
      if (scale != 1 || epilogue->bias)
        walk.each([=](Vec<V> v) { return v * scale + bias; });
      for (int p = 0; p < epilogue->count; ++p)
        apply(epilogue->posts[p], walk, results);
    }
    for (int64_t r = 0; r < walk.rows; ++r)
      storeFirst<V>(results.to + r * results.row, walk.count, load<V>(walk.sums + r * walk.sumRow));
  }

private:
  DLC_INLINE static Vec<V> biasOf(const Epilogue &epilogue, const Walk &walk,
                                  const Results &results) {
    return epilogue.bias ? loadFirst<V>(epilogue.bias + results.firstColumn, walk.count) : Vec<V>{};
  }

  /// An activation is all that comes: sums are gone through once.
  DLC_INLINE static void activate(const Epilogue &epilogue, const Walk &walk,
                                  const Results &results) {
    const Post &post = epilogue.posts[0];
    const Vec<V> bias = biasOf(epilogue, walk, results);
    const float scale = epilogue.scale;
    withActivation<V>(post.activation, post.alpha, post.beta, [&](const auto &function) {
      for (int64_t r = 0; r < walk.rows; ++r)
        storeFirst<V>(results.to + r * results.row, walk.count,
                      function(load<V>(walk.sums + r * walk.sumRow) * scale + bias));
    });
  }

  /// One function of all rows, so that rows overlap.
  static void apply(const Post &post, const Walk &walk, const Results &results) {
    auto withOperand = [&](const auto &change) __attribute__((always_inline)) {
      const Matrix &operand = post.operand;
      walk.with(operand.data + results.firstRow * operand.row +
                    results.firstColumn * operand.column,
                operand.row, operand.column, change);
    };
    switch (post.kind) {
    case PostKind::Activate:
      return withActivation<V>(post.activation, post.alpha, post.beta,
                               [&](const auto &function) { walk.each(function); });
    case PostKind::Add:
      return withOperand([](Vec<V> v, Vec<V> y) { return v + y; });
    case PostKind::Mul:
      return withOperand([](Vec<V> v, Vec<V> y) { return v * y; });
    case PostKind::Sub:
      return withOperand([](Vec<V> v, Vec<V> y) { return v - y; });
    case PostKind::LogisticGradient:
      return withOperand([](Vec<V> v, Vec<V> y) { return v * (y * (1 - y)); });
    case PostKind::TanhGradient:
      return withOperand([](Vec<V> v, Vec<V> y) { return v * (1 - y * y); });
    case PostKind::ReluGradient:
      return withOperand([](Vec<V> v, Vec<V> y) { return y > 0.0f ? v : Vec<V>{}; });
    case PostKind::Sum:
      return walk.with(results.to, results.row, 1,
                       [&](Vec<V> v, Vec<V> old) { return v + post.alpha * old; });
    }
  }
};

} // namespace
} // namespace dlc::simd

#endif // DLC_RUNTIME_LIBRARY_SIMD_ENDS_H
