//===- EpilogueApplier.h - epilogues on sums in vectors -------------------===//
//
// For inclusion by the files that are compiled for one architecture.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_SIMD_EPILOGUEAPPLIER_H
#define DLC_RUNTIME_LIBRARY_SIMD_EPILOGUEAPPLIER_H

#include "runtime/library/simd/Activations.h"
#include "runtime/library/simd/Post.h"

namespace dlc::simd {
namespace {

/// Destination of a block of results, and the block's first row and column in the whole result.
struct ResultBlock {
  float *to;
  int64_t row; ///< stride between two rows, in elements
  int64_t firstRow, firstColumn;
};

template <int V> struct EpilogueApplier {
  /// Block of accumulators: rows of V sums each, of which only the first `count` are stored.
  struct SumBlock {
    float *sums;
    int64_t sumRow, rows, count;

    template <typename Change> DLC_INLINE void each(const Change &change) const {
      for (int64_t r = 0; r < rows; ++r)
        store<V>(sums + r * sumRow, change(load<V>(sums + r * sumRow)));
    }
    /// Combines the sums with a second operand. Its rows have a stride of `row` elements; a `step`
    /// of 0 broadcasts the first element of each row.
    template <typename Change>
    DLC_INLINE void with(const float *other, int64_t row, int64_t step,
                         const Change &change) const {
      for (int64_t r = 0; r < rows; ++r, other += row) {
        Vec<V> y = step == 0 ? splat<V>(*other) : loadFirst<V>(other, count);
        store<V>(sums + r * sumRow, change(load<V>(sums + r * sumRow), y));
      }
    }
  };

  /// Stores the sums as results. If `adds` is set, the old results are added first. If there is an
  /// epilogue, it is applied before the store.
  [[gnu::noinline]] static void finish(const SumBlock &block, const ResultBlock &results,
                                       const Epilogue *epilogue, bool adds) {
    if (epilogue && epilogue->count == 1 && epilogue->posts[0].kind == PostOpKind::Activate &&
        !adds)
      return activate(*epilogue, block, results);
    if (adds)
      block.with(results.to, results.row, 1, [](Vec<V> v, Vec<V> old) { return v + old; });
    if (epilogue) {
      Vec<V> bias = biasOf(*epilogue, block, results);
      float scale = epilogue->scale;
      if (scale != 1 || epilogue->bias)
        block.each([=](Vec<V> v) { return v * scale + bias; });
      for (int p = 0; p < epilogue->count; ++p)
        apply(epilogue->posts[p], block, results);
    }
    for (int64_t r = 0; r < block.rows; ++r)
      storeFirst<V>(results.to + r * results.row, block.count,
                    load<V>(block.sums + r * block.sumRow));
  }

private:
  DLC_INLINE static Vec<V> biasOf(const Epilogue &epilogue, const SumBlock &block,
                                  const ResultBlock &results) {
    return epilogue.bias ? loadFirst<V>(epilogue.bias + results.firstColumn, block.count)
                         : Vec<V>{};
  }

  /// Fast path for an epilogue whose only post-op is an activation: one pass over the sums.
  DLC_INLINE static void activate(const Epilogue &epilogue, const SumBlock &block,
                                  const ResultBlock &results) {
    const PostOp &post = epilogue.posts[0];
    const Vec<V> bias = biasOf(epilogue, block, results);
    const float scale = epilogue.scale;
    dispatchActivation<V>(post.activation, post.alpha, post.beta, [&](const auto &function) {
      for (int64_t r = 0; r < block.rows; ++r)
        storeFirst<V>(results.to + r * results.row, block.count,
                      function(load<V>(block.sums + r * block.sumRow) * scale + bias));
    });
  }

  /// Applies one post-op to all rows before the next post-op, so that the rows' instruction
  /// latencies overlap.
  static void apply(const PostOp &post, const SumBlock &block, const ResultBlock &results) {
    auto withOperand = [&](const auto &change) __attribute__((always_inline)) {
      const Matrix &operand = post.operand;
      block.with(operand.data + results.firstRow * operand.row +
                     results.firstColumn * operand.column,
                 operand.row, operand.column, change);
    };
    switch (post.kind) {
    case PostOpKind::Activate:
      return dispatchActivation<V>(post.activation, post.alpha, post.beta,
                                   [&](const auto &function) { block.each(function); });
    case PostOpKind::Add:
      return withOperand([](Vec<V> v, Vec<V> y) { return v + y; });
    case PostOpKind::Mul:
      return withOperand([](Vec<V> v, Vec<V> y) { return v * y; });
    case PostOpKind::Sub:
      return withOperand([](Vec<V> v, Vec<V> y) { return v - y; });
    case PostOpKind::LogisticGradient:
      return withOperand([](Vec<V> v, Vec<V> y) { return v * (y * (1 - y)); });
    case PostOpKind::TanhGradient:
      return withOperand([](Vec<V> v, Vec<V> y) { return v * (1 - y * y); });
    case PostOpKind::ReluGradient:
      return withOperand([](Vec<V> v, Vec<V> y) { return y > 0.0f ? v : Vec<V>{}; });
    case PostOpKind::Sum:
      return block.with(results.to, results.row, 1,
                        [&](Vec<V> v, Vec<V> old) { return v + post.alpha * old; });
    }
  }
};

} // namespace
} // namespace dlc::simd

#endif // DLC_RUNTIME_LIBRARY_SIMD_EPILOGUEAPPLIER_H
