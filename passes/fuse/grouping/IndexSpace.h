//===- IndexSpace.h - index maps of the values that a kernel computes -----===//
//
// A kernel iterates over the elements of its results and computes their operands on demand. A value
// that two consumers read at different indices is computed twice, and a broadcast value is computed
// repeatedly. This class limits such redundancy, and ensures that reductions can be hoisted to
// rows: all reductions of a kernel have the same shape and axes, and operations on their results
// are elementwise over that shape or over its rows.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_FUSE_GROUPING_INDEXSPACE_H
#define DLC_PASSES_FUSE_GROUPING_INDEXSPACE_H

#include "passes/fuse/grouping/Grouping.h"

#include <map>

namespace dlc {

class IndexSpace {
public:
  /// Creates the index space of a kernel whose first operation is `root`.
  explicit IndexSpace(mlir::Operation *root);
  /// Creates the index space of an empty kernel that iterates over `shape` and whose reductions, if
  /// any, have the shape and axes of `reduce`. Operations without users in the kernel are added by
  /// addRoot().
  IndexSpace(llvm::ArrayRef<int64_t> shape, ReduceOp reduce);

  bool acceptsRoot(mlir::Operation *op) const;
  void addRoot(mlir::Operation *op);

  /// Returns whether `op` may be added to the kernel. All of its users inside the kernel must have
  /// been added before. `asOutput`: `op` also has users outside of the kernel, so that its result
  /// is stored.
  bool accepts(mlir::Operation *op, llvm::ArrayRef<mlir::Operation *> usersInside,
               bool asOutput) const;
  /// Adds `op` to the kernel. accepts() must have returned true for it.
  void add(mlir::Operation *op, llvm::ArrayRef<mlir::Operation *> usersInside);

private:
  using Shape = llvm::SmallVector<int64_t>;
  /// How a kernel computes an operation: the numbers of the index maps from the kernel's iteration
  /// space to the elements of the operation, and whether elements are computed more than once.
  struct Place {
    llvm::SmallVector<int, 2> maps;
    bool redundant = false;
    /// Whether a user of the value, or a user of that user, broadcasts it to a shape with more
    /// elements.
    bool stretched = false;
  };

  Place placeOf(mlir::Operation *op, llvm::ArrayRef<mlir::Operation *> usersInside) const;
  bool acceptsReduce(ReduceOp op, const Place &place) const;
  /// Returns the reduction over the kernel's shape on whose result `op` depends elementwise, if
  /// `op` has one element per row and the kernel does not contain the reduction yet. Otherwise
  /// returns null. With this reduction, the kernel computes `op` once per row instead of once per
  /// element.
  ReduceOp upcomingReduce(mlir::Operation *op, const Place &place) const;
  void setReduce(ReduceOp op, int row);
  int rootMapOf(mlir::Operation *op) const;
  int derived(int map, const Shape &shape, mlir::Operation *by, int operand) const;

  Shape rootShape;
  /// Properties of the kernel's first reduction, which all other reductions must share: shape of
  /// its operand, shape of its result, its axes, and the index maps of operand and result.
  bool hasReduce = false;
  Shape fullShape, rowShape, axes;
  int fullMap = -1, rowMap = -1;

  llvm::DenseMap<mlir::Operation *, Place> places;
  int redundantOps = 0;
  // Numbers that identify index maps, assigned on first use.
  mutable std::map<std::tuple<int, std::vector<int64_t>, mlir::Operation *, int>, int> numbers;
};

} // namespace dlc

#endif // DLC_PASSES_FUSE_GROUPING_INDEXSPACE_H
