//===- IndexMap.h - which elements of the operands make an element of the result ===//
//
// An operation writes this once (`mapIndices`, beside its inference), over expressions: the
// emitters read it with the coordinates of their kernels, analyses with variables.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_IR_DLC_INDEXMAP_H
#define DLC_IR_DLC_INDEXMAP_H

#include "ir/dlc/Dialect.h"
#include "ir/dlc/IndexExpr.h"

namespace dlc {

/// What must hold for an element to be there: `by` divides the place, and 0 <= place / by < size.
struct Guard {
  IndexExpr place;
  int64_t size = 0, by = 1;
};

/// An element of an operand, read where all guards hold.
struct Read {
  unsigned operand = 0;
  Coordinates at;
  llvm::SmallVector<Guard, 2> guards;

  /// Adds a guard, unless it always holds.
  void guard(const IndexExpr &place, int64_t size, int64_t by = 1);
};

class IndexMap {
public:
  /// The place that an element of an index tensor means, in a dimension of `size`.
  using Load =
      llvm::function_ref<IndexExpr(mlir::Value indices, const Coordinates &at, int64_t size)>;

  IndexContext &x;
  /// The result's element, and which of the terms that are folded into it.
  llvm::ArrayRef<IndexExpr> at, over;
  Load load;
  llvm::SmallVector<Read, 2> reads;

  Read &read(unsigned operand, Coordinates from) {
    return reads.emplace_back(Read{operand, std::move(from), {}});
  }
};

/// How a window slides over spatial dimensions.
struct Sliding {
  llvm::ArrayRef<int64_t> strides, dilations, low;

  /// Adds the coordinates that place `k` of the window at position `p` reads in an image.
  void from(llvm::ArrayRef<IndexExpr> p, llvm::ArrayRef<IndexExpr> k, llvm::ArrayRef<int64_t> image,
            Read &read) const;
  /// The other way round: adds the position whose window has place `k` at `y`. Where there is none,
  /// the guards say so.
  void back(llvm::ArrayRef<IndexExpr> y, llvm::ArrayRef<IndexExpr> k,
            llvm::ArrayRef<int64_t> positions, IndexContext &x, Read &read) const;
};

/// The extents, row-major, of what is folded into one element.
llvm::SmallVector<int64_t> foldedExtents(mlir::Operation *op);

/// What the result's element at `at` is made of; of what is folded into it, the term `over`.
/// Of an operation that moves elements: the first whose guards hold is the result; the last one
/// has none.
llvm::SmallVector<Read, 2> readsOf(mlir::Operation *op, IndexContext &x,
                                   llvm::ArrayRef<IndexExpr> at,
                                   llvm::ArrayRef<IndexExpr> over = {},
                                   IndexMap::Load load = nullptr);

/// Where the operand's element stands that the result's element at `at` always is, if `op` moves
/// elements of one operand and their places follow from the index alone.
std::optional<Coordinates> movedIndex(mlir::Operation *op, IndexContext &x,
                                      llvm::ArrayRef<IndexExpr> at);

/// Where in its operand's elements the result's lie, if they are one run of them in order: the
/// first of them. Both as if they lay in plain order.
std::optional<int64_t> runOf(mlir::Operation *op);

} // namespace dlc

#endif // DLC_IR_DLC_INDEXMAP_H
