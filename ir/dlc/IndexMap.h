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

/// Condition under which an element exists: `by` divides `place`, and 0 <= place / by < size.
struct Guard {
  IndexExpr place;
  int64_t size = 0, by = 1;
};

/// Element of an operand that is read if all guards hold.
struct Read {
  unsigned operand = 0;
  Coordinates at;
  llvm::SmallVector<Guard, 2> guards;

  /// Adds a guard, unless the range of `place` shows that the guard always holds.
  void guard(const IndexExpr &place, int64_t size, int64_t by = 1);
};

class IndexMap {
public:
  /// Callback that returns the value of element `at` of an index tensor, as an index into a
  /// dimension of the given size.
  using Load =
      llvm::function_ref<IndexExpr(mlir::Value indices, const Coordinates &at, int64_t size)>;

  IndexContext &x;
  /// Coordinates of the result element, and coordinates of the current term of its reduction.
  llvm::ArrayRef<IndexExpr> at, over;
  Load load;
  llvm::SmallVector<Read, 2> reads;

  Read &read(unsigned operand, Coordinates from) {
    return reads.emplace_back(Read{operand, std::move(from), {}});
  }
};

/// Parameters of a window that slides over the spatial dimensions.
struct Sliding {
  llvm::ArrayRef<int64_t> strides, dilations, low;

  /// Adds the image coordinates that window element `k` reads at output position `p`.
  void from(llvm::ArrayRef<IndexExpr> p, llvm::ArrayRef<IndexExpr> k, llvm::ArrayRef<int64_t> image,
            Read &read) const;
  /// Inverse of `from`: adds the output position whose window element `k` reads image coordinate
  /// `y`. The guards fail if there is no such position.
  void back(llvm::ArrayRef<IndexExpr> y, llvm::ArrayRef<IndexExpr> k,
            llvm::ArrayRef<int64_t> positions, IndexContext &x, Read &read) const;
};

/// Returns the row-major extents of the reduction that computes one result element.
llvm::SmallVector<int64_t> foldedExtents(mlir::Operation *op);

/// Returns the operand elements that the result element at `at` is computed from. For a reduction,
/// these are the elements of the term `over`. For an operation that moves elements, the result is
/// the first read whose guards hold, and the last read has no guards.
llvm::SmallVector<Read, 2> readsOf(mlir::Operation *op, IndexContext &x,
                                   llvm::ArrayRef<IndexExpr> at,
                                   llvm::ArrayRef<IndexExpr> over = {},
                                   IndexMap::Load load = nullptr);

/// If `op` moves elements of its first operand to places that depend on the index alone, returns
/// the coordinates of the operand element that the result element at `at` always equals.
std::optional<Coordinates> movedIndex(mlir::Operation *op, IndexContext &x,
                                      llvm::ArrayRef<IndexExpr> at);

/// If the result's elements are a contiguous run of the operand's elements in the same order,
/// returns the offset of the first one. Assumes row-major layouts for both.
std::optional<int64_t> runOf(mlir::Operation *op);

} // namespace dlc

#endif // DLC_IR_DLC_INDEXMAP_H
