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

/// Parsed and checked description of a matmul (schema/Product.def).
struct DLC_EXPORT MatmulDesc {
  std::vector<int64_t> batch, aStrides, bStrides, dstStrides;
  int64_t m = 0, n = 0, k = 0;
  bool isPacked = false, hasBias = false;
  PostOps posts;

  std::optional<OperandPrologue> change;

  static MatmulDesc of(const schema::Product &fields);

  /// Returns true if the epilogue only accumulates: its one post-op is a "sum", and there is no
  /// bias.
  bool addsUp() const;
  /// Checks the call's buffers. If b is packed, it takes `packedBytes` bytes.
  void check(BufferChecker &given, uint64_t packedBytes) const;

private:
  void setChange(const schema::Prologue &fields);
};

} // namespace dlc::describe

#endif // DLC_RUNTIME_LIBRARY_DESCRIBE_PRODUCT_H
