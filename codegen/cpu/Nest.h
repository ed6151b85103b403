//===- Nest.h - loop nests of a kernel that iterates over rows ------------===//
#ifndef DLC_CODEGEN_CPU_NEST_H
#define DLC_CODEGEN_CPU_NEST_H

#include "codegen/cpu/Parts.h"

namespace dlc::cpu {

/// One loop nest: results of one shape that are computed together, row by row.
struct Nest {
  llvm::SmallVector<int64_t> shape; ///< iteration space; the last dimension is a row
  struct Store {
    mlir::Value value; ///< value with the nest's shape, or a part of a concatenation
    unsigned output;
    int64_t axis = -1; ///< axis of the concatenation that the value is a part of; -1: none
  };
  llvm::SmallVector<Store> stores;    ///< results with one element per element of the row
  llvm::SmallVector<Store> rowStores; ///< results with one element per row
  bool scalarRow = false; ///< each element of the row is a reduction of its own: no lanes
  int64_t lanes = 0, block = 0, blocks = 1;
  /// For short rows: number of rows, along the second-to-last dimension, in a work unit. 0: a work
  /// unit is a row or a block of one.
  int64_t depth = 0, chunks = 1;
  /// Unrolling of the loop over short rows: `together` consecutive rows in each of `runs` distant
  /// memory streams.
  int64_t together = 1, runs = 1;
  /// Number of dimensions before the row that are iterated over within a work unit, because all of
  /// its rows use one reduction over these dimensions and the row.
  int64_t within = 0;
  /// Dimension that is tiled together with the row (TransposedOperands.h); -1: none.
  int64_t across = -1;
  /// Concatenation that the results are computed from, if any: the nest computes the elements of
  /// one of its parts, so that no element has to select its part.
  ConcatOp joined = nullptr;
  PartRun parts; ///< parts of the concatenation that the nest computes
  /// Whether a work unit computes the same rows of all parts, including those of the other nests.
  bool sameUnits = false;
  int64_t units = 1; ///< work units per part: rows, blocks or chunks of rows, or rows of tiles
  double work = 0;   ///< approximate number of operations per work unit

  int64_t rowsWithin() const;
  /// Returns whether the nest's parts of a concatenation are joined along the row.
  bool joinsRows() const {
    int64_t axis = joined ? int64_t(ConcatOp(joined).getAxis()) : stores[0].axis;
    return axis >= 0 && axis == int64_t(shape.size()) - 1;
  }
};

std::vector<Nest> planNests(FusionOp fusion, const Target &target);

/// Returns the approximate number of operations of one execution.
double totalWork(FusionOp fusion);

/// Returns the only concatenation of a fusion if all of its users read each element at its own
/// index. Allowed users are elementwise operations, the reductions that `reduces` accepts, and
/// results.
ConcatOp joinedInPlace(FusionOp fusion, llvm::function_ref<bool(ReduceOp, ConcatOp)> reduces);

/// Returns the values to save in scratch while a row is reduced, because the rest of the row's
/// computation needs them again and they cost more than a store and a load (for example, softmax's
/// exponentials).
llvm::SmallVector<mlir::Value> keptRows(FusionOp fusion);
/// Returns the bytes of scratch memory for a row of a saved value.
int64_t rowBytes(mlir::Value value);

inline mlir::RankedTensorType tensorType(mlir::Value v) {
  return llvm::cast<mlir::RankedTensorType>(v.getType());
}
inline int64_t product(llvm::ArrayRef<int64_t> values) {
  int64_t n = 1;
  for (int64_t v : values)
    n *= v;
  return n;
}

inline int64_t Nest::rowsWithin() const {
  return product(llvm::ArrayRef<int64_t>(shape).drop_back().take_back(size_t(within)));
}

} // namespace dlc::cpu
#endif
