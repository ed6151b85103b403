//===- Parts.h - the operations between a whole and the ranks' parts -----------===//
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

  /// This rank's part of what is whole on all, and the whole of what each has a part of.
  mlir::Value part(mlir::Value whole, const Share &share);
  mlir::Value gather(mlir::Value part, const Share &share);
  mlir::Value reduce(ReduceKind kind, mlir::Value terms);
  /// By the number of ranks: a mean over a part as a term of the mean over all.
  mlir::Value divide(mlir::Value x);

  /// x[indices] along an axis, of which x has this rank's rows; 0 where another rank has it.
  mlir::Value lookUp(mlir::Value x, mlir::Value indices, int64_t axis);
  /// x with updates added at tuples of one index, of those in this rank's rows.
  mlir::Value addRows(mlir::Value x, mlir::Value tuples, mlir::Value updates);

private:
  struct Places {
    mlir::Value inside, at;
  };
  /// Where indices of the whole stand in this rank's rows.
  Places placesOf(mlir::Value indices, int64_t rows);
  mlir::Value number(int64_t value, mlir::Value like);
  /// Zeros where the condition, of x's dimensions from `axis` on, does not hold.
  mlir::Value keep(mlir::Value condition, mlir::Value x, int64_t axis);
  mlir::Value transpose(mlir::Value x);
  /// Of rows, this rank's.
  mlir::Value mine(mlir::Value rows);

  mlir::OpBuilder &builder;
  TensorBuilder b;
  int64_t ranks;
};

} // namespace dlc::share

#endif // DLC_PASSES_SHARE_PARTS_H
