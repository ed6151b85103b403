//===- Product.h - what a matrix product is, whoever computes it --------------------===//
#ifndef DLC_RUNTIME_LIBRARY_DESCRIBE_PRODUCT_H
#define DLC_RUNTIME_LIBRARY_DESCRIBE_PRODUCT_H

#include "runtime/library/describe/Buffers.h"
#include "runtime/library/describe/Posts.h"

#include <optional>

namespace dlc::describe {

/// What a prologue changes, and how.
struct Change {
  bool isOfLeft = true, across = false, hasShift = false, hasFactor = false, hasHot = false,
       hasSums = false;
  int64_t row = 0;         ///< elements between two rows
  simd::Prologue prologue; ///< without addresses

  /// Whether elements become others, which may be summed up as well.
  bool changes() const { return prologue.exponential || hasShift || hasFactor || hasHot; }
};

/// dst[batch.., m, n] = post-ops(scale · a[batch.., m, k] · b[batch.., k, n] + bias[n])
///
///   {"kind": "product", "batch": [..], "m", "n", "k", "a": [strides of batch.., m, k],
///    "b": [strides] or "packed", "dst": [strides; the last is 1], "scale": 1, "bias": true,
///    "post_ops": [{"kind": "eltwise", "alg": as in Activations.cpp, "alpha", "beta"}, {"kind":
///    "sum", "scale"},
///                 {"kind": "binary", "alg": add mul sub logistic_gradient tanh_gradient
///                  relu_gradient, "strides": [batch.., m, n]}],
///    "prologue": {"of": "a" or "b", "row", "exp": false, "shift": 0 or 1, "factor": 0 or 1,
///                 "hot": value, "sums": false}}
///
/// All of f32, strides in elements. Buffers: a, b, [bias], dst, one for each binary post-op. A sum
/// is the last post-op. "packed": as the library's packWeights leaves it.
/// A gradient is that of an activation whose result y is the operand: what comes is multiplied by
/// y (1 - y), by 1 - y², or is 0 where y is not above 0.
/// The prologue (simd/Post.h) changes elements of an operand that lies in rows of "row" elements.
/// Its buffers follow: [shift], [factor] (of all rows, or one), [hot] (i64), [sums], which gets the
/// sum of each column over all rows, where rows are what is summed.
struct DLC_EXPORT Product {
  std::vector<int64_t> batch, aStrides, bStrides, dstStrides;
  int64_t m = 0, n = 0, k = 0;
  bool isPacked = false, hasBias = false;
  Posts posts;

  std::optional<Change> change;

  static Product read(const Fields &fields);

  /// Whether all that becomes of sums is to be added to what dst holds.
  bool addsUp() const;
  /// That there are the buffers, `packedBytes` in b where that is packed.
  void check(Buffers &given, uint64_t packedBytes) const;

private:
  void readChange(const Fields &fields);
};

} // namespace dlc::describe

#endif // DLC_RUNTIME_LIBRARY_DESCRIBE_PRODUCT_H
