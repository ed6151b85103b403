//===- IndexLowering.h - lowers index maps to instructions ----------------===//
//
// Emits the arithmetic of index maps. An index map has a variable for each dimension, and each
// variable is bound to a coordinate of the kernel, which may differ between vector lanes. A linear
// expression of such a coordinate has a constant step between lanes. A division of such a
// coordinate becomes a vector of indices.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CPU_EMIT_INDEXLOWERING_H
#define DLC_CODEGEN_CPU_EMIT_INDEXLOWERING_H

#include "codegen/cpu/emit/Emitter.h"
#include "ir/dlc/IndexMap.h"

namespace dlc::cpu {

class IndexLowering {
public:
  IndexLowering(Emitter &e, int64_t lanes) : e(e), lanes(lanes) {}

  /// Returns the operand elements that are needed for the element at index `at` of the operation's
  /// result. `over`: coordinates of the reduction term, if the operation reduces.
  llvm::SmallVector<OperandRead, 2> readsOf(mlir::Operation *op, const Indices &at,
                                            llvm::ArrayRef<LaneIndex> over = {});
  /// Returns the index in the operand from which `op` moves the element at index `at`, such as for
  /// a transpose or slice. Returns nothing if `op` does not only move elements.
  std::optional<Indices> getSourceIndex(mlir::Operation *op, const Indices &at);

  LaneIndex lower(const IndexExpr &expression);
  /// Emits the operand index of a read. The guards of the read must hold.
  Indices lower(const OperandRead &read);
  /// Emits the operand index of a read. The index is clamped to `shape` if the guards of the read
  /// may not hold. `isElse`: the index is also read if the guards of an earlier read hold.
  Indices lower(const OperandRead &read, llvm::ArrayRef<int64_t> shape, bool isElse = false);
  /// Emits the condition that all guards hold: an i1, or a vector of i1 if it differs between
  /// lanes. Returns null if there are no guards.
  mlir::Value inside(llvm::ArrayRef<IndexGuard> guards);

private:
  LaneIndex lower(const IndexAtom *atom);
  IndexExpr variable(const LaneIndex &value, int64_t size);
  Coordinates variables(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<LaneIndex> values);
  IndexExpr load(mlir::Value indices, const Coordinates &at, int64_t size);
  LaneIndex binary(llvm::StringRef kind, const LaneIndex &a, const LaneIndex &b);

  Emitter &e;
  int64_t lanes;
  IndexContext x;
  llvm::DenseMap<const IndexAtom *, LaneIndex> known;
};

} // namespace dlc::cpu
#endif
