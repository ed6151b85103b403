//===- Parts.h - conversions between whole tensors and per-rank parts -----===//
#ifndef DLC_PASSES_SHARE_PARTS_H
#define DLC_PASSES_SHARE_PARTS_H

#include "ir/dlc/Dialect.h"
#include "passes/TensorBuilder.h"
#include "passes/share/Share.h"

namespace dlc::share {

class PartBuilder {
public:
  PartBuilder(mlir::OpBuilder &builder, mlir::Location loc, int64_t ranks)
      : builder(builder), b(builder, loc), ranks(ranks) {}

  /// Returns this rank's part of a tensor that all ranks have in full.
  mlir::Value part(mlir::Value whole, const Share &share);
  mlir::Value gather(mlir::Value part, const Share &share);
  mlir::Value reduce(ReduceKind kind, mlir::Value terms);
  /// Divides x by the number of ranks, which converts a mean over one rank's part to its
  /// contribution to the mean over all parts.
  mlir::Value divide(mlir::Value x);

  /// Gathers x[indices] along an axis, where x has only this rank's rows. The result is 0 for rows
  /// of other ranks.
  mlir::Value lookUp(mlir::Value x, mlir::Value indices, int64_t axis);
  /// Scatter-adds updates to the rows of x that the 1-tuples of indices select. Updates of other
  /// ranks' rows are ignored.
  mlir::Value addRows(mlir::Value x, mlir::Value tuples, mlir::Value updates);

private:
  struct Places {
    mlir::Value inside, at;
  };
  /// Converts row indices of the whole table to indices of this rank's rows, and marks the indices
  /// of rows that this rank has.
  Places placesOf(mlir::Value indices, int64_t rows);
  mlir::Value number(int64_t value, mlir::Value like);
  /// Returns x where the condition is true, and 0 elsewhere. The dimensions of the condition are
  /// those of x from `axis` on.
  mlir::Value keep(mlir::Value condition, mlir::Value x, int64_t axis);
  mlir::Value transpose(mlir::Value x);
  /// Returns the rows of a tensor that are this rank's part.
  mlir::Value shareOfRank(mlir::Value rows);

  mlir::OpBuilder &builder;
  TensorBuilder b;
  int64_t ranks;
};

} // namespace dlc::share

#endif // DLC_PASSES_SHARE_PARTS_H
