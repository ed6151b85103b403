//===- Nest.h - loop nests of a kernel that iterates over rows ------------===//
#ifndef DLC_CODEGEN_CPU_KERNEL_NEST_H
#define DLC_CODEGEN_CPU_KERNEL_NEST_H

#include "codegen/cpu/kernel/Parts.h"

namespace dlc::cpu {

/// One loop nest of a kernel: it computes results of the same shape together, row by row.
struct LoopNest {
  llvm::SmallVector<int64_t> shape; ///< iteration space of the loops; the last dimension is a row
  struct Store {
    mlir::Value value; ///< stored value with the nest's shape, or an operand of a concatenation
    unsigned output;
    int64_t axis = -1; ///< axis of the concatenation that the value is an operand of; -1: none
  };
  llvm::SmallVector<Store> stores; ///< fusion results that have the nest's shape
  /// Fusion results that have one element per row (reductions over a row).
  llvm::SmallVector<Store> rowStores;
  bool scalarRow = false; ///< each element of the row is a separate reduction; lanes are not used
  int64_t lanes = 0, block = 0, blocks = 1;
  /// Number of rows in a work unit, along the second-to-last dimension, if rows are short. 0: a
  /// work unit is one row or one block of a row.
  int64_t depth = 0, chunks = 1;
  /// Unrolling of the loop over short rows: one iteration computes `together` consecutive rows in
  /// each of `runs` distant memory streams.
  int64_t together = 1, runs = 1;
  /// Number of dimensions before the row that a work unit iterates over. It is not 0 if all of the
  /// unit's rows use the same reduction over these dimensions and the row, which is then computed
  /// once.
  int64_t within = 0;
  /// Dimension that is tiled together with the row dimension to transpose operands
  /// (TransposedOperands.h); -1: none.
  int64_t across = -1;
  /// Concatenation that the results are computed from, or null. The nest computes only the elements
  /// of one operand of the concatenation (or of a run of similar operands), so that no element has
  /// to select its operand.
  ConcatOp joined = nullptr;
  ConcatOperandRun parts; ///< operands of the concatenation that the nest computes
  /// Whether a work unit computes the same rows for all operands of the concatenation, including
  /// those that other nests compute.
  bool sameUnits = false;
  /// Number of work units per operand: rows, row blocks, row chunks, or rows of tiles.
  int64_t units = 1;
  double work = 0; ///< approximate number of operations per work unit

  int64_t rowsWithin() const;
  /// Returns whether the nest computes operands of a concatenation along the row dimension.
  bool joinsRows() const {
    int64_t axis = joined ? int64_t(ConcatOp(joined).getAxis()) : stores[0].axis;
    return axis >= 0 && axis == int64_t(shape.size()) - 1;
  }
};

std::vector<LoopNest> planNests(FusionOp fusion, const Target &target);

/// Returns the approximate number of scalar operations of one run of the fusion.
double estimateTotalWork(FusionOp fusion);

/// Returns the only concatenation of a fusion if all of its users read it element by element, so
/// that each of its operands can be computed separately. Allowed users are elementwise operations,
/// the reductions that `reduces` accepts, and results. Returns null otherwise.
ConcatOp findElementwiseReadConcat(FusionOp fusion,
                                   llvm::function_ref<bool(ReduceOp, ConcatOp)> reduces);

/// Returns the intermediate values whose row is cached in scratch memory while it is reduced. They
/// are used again in the same row and cost more to compute than a store and a load (for example,
/// the exponentials of softmax).
llvm::SmallVector<mlir::Value> findRowsToCache(FusionOp fusion);
/// Returns the bytes of scratch memory that one row of `value` needs, in the type in which it is
/// computed.
int64_t getRowScratchBytes(mlir::Value value);

inline mlir::RankedTensorType tensorType(mlir::Value v) {
  return llvm::cast<mlir::RankedTensorType>(v.getType());
}
inline int64_t multiplyDims(llvm::ArrayRef<int64_t> values) {
  int64_t n = 1;
  for (int64_t v : values)
    n *= v;
  return n;
}

inline int64_t LoopNest::rowsWithin() const {
  return multiplyDims(llvm::ArrayRef<int64_t>(shape).drop_back().take_back(size_t(within)));
}

} // namespace dlc::cpu
#endif
