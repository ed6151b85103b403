//===- IndexSpace.h - at which indices a kernel computes each of its values ===//
//
// A kernel walks the elements of its results and pulls what each needs. A value that two consumers
// want at different indices is computed twice; one that stretches along a dimension is computed
// again and again. This keeps count, and keeps reductions where their rows can be hoisted: all of a
// kernel's reductions have one shape and one set of axes, and what comes after them is elementwise
// over that shape or over its rows.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_FUSE_INDEXSPACE_H
#define DLC_PASSES_FUSE_INDEXSPACE_H

#include "passes/fuse/Grouping.h"

#include <map>

namespace dlc {

class IndexSpace {
public:
  /// A kernel whose first operation is `root`.
  explicit IndexSpace(mlir::Operation *root);
  /// A kernel that walks `shape` and whose reductions, if it has any, are like `reduce`; its
  /// operations are yet to join, those that nothing inside uses by addRoot().
  IndexSpace(llvm::ArrayRef<int64_t> shape, ReduceOp reduce);

  bool acceptsRoot(mlir::Operation *op) const;
  void addRoot(mlir::Operation *op);

  /// Whether `op`, all of whose users inside are in the kernel already, may join; `asOutput` when
  /// others use it too.
  bool accepts(mlir::Operation *op, llvm::ArrayRef<mlir::Operation *> usersInside,
               bool asOutput) const;
  /// Joins; accepts() must have said so.
  void add(mlir::Operation *op, llvm::ArrayRef<mlir::Operation *> usersInside);

private:
  using Shape = llvm::SmallVector<int64_t>;
  /// Where an operation is computed: the maps (by number) and whether more often than it has
  /// elements.
  struct Place {
    llvm::SmallVector<int, 2> maps;
    bool redundant = false;
    /// Something of the kernel's shape needs what has been reduced to a row or less.
    bool stretched = false;
  };

  Place placeOf(mlir::Operation *op, llvm::ArrayRef<mlir::Operation *> usersInside) const;
  bool acceptsReduce(ReduceOp op, const Place &place) const;
  /// A value with one element per row of a reduction over the kernel's own shape that is yet to
  /// join: the reduction.
  ReduceOp upcomingReduce(mlir::Operation *op, const Place &place) const;
  void setReduce(ReduceOp op, int row);
  int rootMapOf(mlir::Operation *op) const;
  int derived(int map, const Shape &shape, mlir::Operation *by, int operand) const;

  Shape rootShape;
  /// Set by the first reduction: its operand's shape, its result's, its axes, and the maps of both.
  bool hasReduce = false;
  Shape fullShape, rowShape, axes;
  int fullMap = -1, rowMap = -1;

  llvm::DenseMap<mlir::Operation *, Place> places;
  int redundantOps = 0;
  // Numbers for maps, made as they are asked for.
  mutable std::map<std::tuple<int, std::vector<int64_t>, mlir::Operation *, int>, int> numbers;
};

} // namespace dlc

#endif // DLC_PASSES_FUSE_INDEXSPACE_H
