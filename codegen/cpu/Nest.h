//===- Nest.h - the loop nests of a kernel that walks rows ----------------===//
#ifndef DLC_CODEGEN_CPU_NEST_H
#define DLC_CODEGEN_CPU_NEST_H

#include "codegen/cpu/Parts.h"

namespace dlc::cpu {

/// One loop nest: results of one shape, computed together row by row.
struct Nest {
  llvm::SmallVector<int64_t> shape; ///< what is walked; the last dimension is a row
  struct Store {
    mlir::Value value; ///< of the nest's shape, but for concatenated parts
    unsigned output;
    int64_t axis = -1; ///< of a concatenation that it is a part of
  };
  llvm::SmallVector<Store> stores;    ///< one element per element of the row
  llvm::SmallVector<Store> rowStores; ///< one element per row
  bool scalarRow = false;             ///< elements of the row are reductions of their own: no lanes
  int64_t lanes = 0, block = 0, blocks = 1;
  /// Of rows that are short: so many, along the dimension before, are a unit; 0 where a row is.
  int64_t depth = 0, chunks = 1;
  /// So many of them are written out, in so many runs of memory.
  int64_t together = 1, runs = 1;
  /// So many dimensions before the row are walked within a unit: all of its rows need one reduction
  /// over them and the row.
  int64_t within = 0;
  /// A dimension that is walked in tiles with the row (Turned.h); -1: none.
  int64_t across = -1;
  /// Of what is made of a concatenation, the elements that one of its parts gives: they are walked
  /// by themselves, and nothing has to choose per element.
  ConcatOp joined = nullptr;
  PartRun parts; ///< where it makes parts of a concatenation: which
  /// A unit takes the same rows of all parts, those of the other nests too.
  bool beside = false;
  int64_t units = 1; ///< of each part: rows, or blocks or chunks of them; or rows of tiles
  double work = 0;   ///< rough operations per unit

  int64_t rowsWithin() const;
  /// Whether its parts of a concatenation are parts of rows.
  bool joinsRows() const {
    int64_t axis = joined ? int64_t(ConcatOp(joined).getAxis()) : stores[0].axis;
    return axis >= 0 && axis == int64_t(shape.size()) - 1;
  }
};

std::vector<Nest> planNests(FusionOp fusion, const Target &target);

/// Operations that one run costs, roughly.
double totalWork(FusionOp fusion);

/// The only concatenation of a fusion, if whoever reads it reads the element at its own place:
/// operations element by element, the reductions that `reduces` names, and results.
ConcatOp joinedInPlace(FusionOp fusion, llvm::function_ref<bool(ReduceOp, ConcatOp)> reduces);

/// Values worth keeping while a row is reduced, since the rest of the row's work needs them again
/// and they cost more than a store and a load: softmax's exponentials.
llvm::SmallVector<mlir::Value> keptRows(FusionOp fusion);
/// Scratch memory of a kept row.
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
