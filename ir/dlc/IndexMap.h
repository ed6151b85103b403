//===- IndexMap.h - maps from result elements to operand elements ---------===//
//
// Each operation defines its map once, in `mapIndices`, which is implemented next to its type
// inference. The map is a function of symbolic index expressions. Code emitters evaluate it with
// the coordinates of their kernels, and analyses evaluate it with variables.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_IR_DLC_INDEXMAP_H
#define DLC_IR_DLC_INDEXMAP_H

#include "ir/dlc/Dialect.h"
#include "ir/dlc/IndexExpr.h"

namespace dlc {

/// Condition that an index into a tensor is valid: `place` is a multiple of `by`, and 0 <= place /
/// by < size.
struct IndexGuard {
  IndexExpr place;
  int64_t size = 0, by = 1;
};

/// Access to an operand: reads the element at coordinates `at` if all guards hold.
struct OperandRead {
  unsigned operand = 0;
  Coordinates at;
  llvm::SmallVector<IndexGuard, 2> guards;

  /// Adds the condition that `place` is a multiple of `by` and 0 <= place / by < size, unless the
  /// range of `place` shows that it always holds.
  void guard(const IndexExpr &place, int64_t size, int64_t by = 1);
};

class IndexMap {
public:
  /// Callback that returns element `at` of an index tensor as an index expression. The index is
  /// valid in a dimension of the given size.
  using Load =
      llvm::function_ref<IndexExpr(mlir::Value indices, const Coordinates &at, int64_t size)>;

  IndexContext &x;
  /// Coordinates of the result element (`at`) and of the current term of its reduction (`over`).
  llvm::ArrayRef<IndexExpr> at, over;
  Load load;
  llvm::SmallVector<OperandRead, 2> reads;

  OperandRead &read(unsigned operand, Coordinates from) {
    return reads.emplace_back(OperandRead{operand, std::move(from), {}});
  }
};

/// Strides, dilations and leading padding of a sliding window, one entry per spatial dimension.
struct SlidingWindow {
  llvm::ArrayRef<int64_t> strides, dilations, low;

  /// Appends to `read` the image coordinates that window element `k` reads for output position `p`.
  void from(llvm::ArrayRef<IndexExpr> p, llvm::ArrayRef<IndexExpr> k, llvm::ArrayRef<int64_t> image,
            OperandRead &read) const;
  /// Appends to `read` the output position whose window element `k` reads image coordinate `y` (the
  /// inverse of `from`). The guards fail if there is no such position.
  void back(llvm::ArrayRef<IndexExpr> y, llvm::ArrayRef<IndexExpr> k,
            llvm::ArrayRef<int64_t> positions, IndexContext &x, OperandRead &read) const;
};

/// Returns the extents of the reduction dimensions of the operation, outermost first. The list is
/// empty if the operation does not reduce.
llvm::SmallVector<int64_t> foldedExtents(mlir::Operation *op);

/// Returns the operand elements from which the result element at `at` is computed. For a reduction,
/// these are the elements of the term at `over`. For an operation that only moves elements, the
/// result is the first read whose guards hold; the last read has no guards.
llvm::SmallVector<OperandRead, 2> readsOf(mlir::Operation *op, IndexContext &x,
                                          llvm::ArrayRef<IndexExpr> at,
                                          llvm::ArrayRef<IndexExpr> over = {},
                                          IndexMap::Load load = nullptr);

/// If `op` moves elements of its first operand, and the source positions depend only on the result
/// index, returns the coordinates of the operand element that the result element at `at` equals.
std::optional<Coordinates> getSourceIndex(mlir::Operation *op, IndexContext &x,
                                          llvm::ArrayRef<IndexExpr> at);

/// If the result is a contiguous slice of the operand's elements in the same order, returns the
/// offset of the slice. Assumes row-major layouts for both.
std::optional<int64_t> getContiguousOffset(mlir::Operation *op);

} // namespace dlc

#endif // DLC_IR_DLC_INDEXMAP_H
