//===- Product.h - parsed description of a matrix product -----------------===//
#ifndef DLC_RUNTIME_LIBRARY_DESCRIBE_PRODUCT_H
#define DLC_RUNTIME_LIBRARY_DESCRIBE_PRODUCT_H

#include "runtime/library/describe/Buffers.h"
#include "runtime/library/describe/PostOps.h"

#include <optional>

namespace dlc::describe {

/// Prologue of a matmul: the operand that it transforms during packing, and its parameters.
/// `across` is set if the matmul reduces over the operand's rows.
struct OperandPrologue {
  bool isOfLeft = true, across = false, hasShift = false, hasFactor = false, hasHot = false,
       hasSums = false;
  int64_t row = 0; ///< stride between two rows, in elements
  /// Operations of the prologue. Its operand addresses are null until a call sets them.
  simd::Prologue prologue;

  /// Returns true if the prologue changes element values. A prologue may also only compute sums.
  bool changes() const { return prologue.exponential || hasShift || hasFactor || hasHot; }
};

/// Matmul with a prologue and an epilogue:
///
///   dst[batch.., m, n] = post-ops(scale · a[batch.., m, k] · b[batch.., k, n] + bias[n])
///
///   {"kind": "product", "batch": [..], "m", "n", "k", "a": [strides of batch.., m, k],
///    "b": [strides] or "packed", "dst": [strides; the last is 1], "scale": 1, "bias": true,
///    "post_ops": [
///      {"kind": "eltwise", "alg": a name of EpilogueOps.def, "alpha", "beta"},
///      {"kind": "sum", "scale"},
///      {"kind": "binary", "strides": [batch.., m, n],
///       "alg": add mul sub logistic_gradient tanh_gradient relu_gradient}],
///    "prologue": {"of": "a" or "b", "row", "exp": false, "shift": 0 or 1, "factor": 0 or 1,
///                 "hot": value, "sums": false}}
///
/// All elements are f32, and strides are in elements. The buffers are a, b, [bias], dst, and one
/// for each binary post-op. A "sum" must be the last post-op. "packed" means that b was packed by
/// the library's packWeights.
///
/// A *_gradient post-op multiplies the value by the derivative of an activation whose result y is
/// the operand: by y (1 - y) for logistic, by 1 - y² for tanh. For relu, the result is 0 where y is
/// not above 0.
///
/// The prologue (simd/Post.h) changes the elements of an operand that is stored in rows with a
/// stride of "row" elements. Its buffers follow: [shift] and [factor] (one value per row, or one
/// for all rows), [hot] (i64) and [sums]. If the matmul sums over the operand's rows, "sums"
/// receives the sum of each column over all rows.
struct DLC_EXPORT MatmulDesc {
  std::vector<int64_t> batch, aStrides, bStrides, dstStrides;
  int64_t m = 0, n = 0, k = 0;
  bool isPacked = false, hasBias = false;
  PostOps posts;

  std::optional<OperandPrologue> change;

  static MatmulDesc read(const Fields &fields);

  /// Returns true if the epilogue only accumulates: its one post-op is a "sum", and there is no
  /// bias.
  bool addsUp() const;
  /// Checks the call's buffers. If b is packed, it takes `packedBytes` bytes.
  void check(BufferChecker &given, uint64_t packedBytes) const;

private:
  void readChange(const Fields &fields);
};

} // namespace dlc::describe

#endif // DLC_RUNTIME_LIBRARY_DESCRIBE_PRODUCT_H
