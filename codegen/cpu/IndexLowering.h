//===- IndexLowering.h - lowers index maps to instructions ----------------===//
//
// An operation's index map has a variable for each dimension. Each variable is bound to a
// coordinate of the kernel here, which may differ from lane to lane. A linear expression of such a
// coordinate has a constant step between lanes. A division of it has a vector of indices.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CPU_INDEXLOWERING_H
#define DLC_CODEGEN_CPU_INDEXLOWERING_H

#include "codegen/cpu/Emitter.h"
#include "ir/dlc/IndexMap.h"

namespace dlc::cpu {

class IndexLowering {
public:
  IndexLowering(Emitter &e, int64_t lanes) : e(e), lanes(lanes) {}

  /// Returns the operand elements that the operation's result at `at` is computed from, for its
  /// reduction term `over`.
  llvm::SmallVector<Read, 2> readsOf(mlir::Operation *op, const Indices &at,
                                     llvm::ArrayRef<Index> over = {});
  /// Returns the index from which `op` moves an element if that follows from the index alone.
  std::optional<Indices> movedIndex(mlir::Operation *op, const Indices &at);

  Index lower(const IndexExpr &expression);
  /// Returns the index of a read, assuming that all guards hold.
  Indices lower(const Read &read);
  /// Returns the index of a read in an operand of this shape, clamped to the shape if the guards
  /// may not hold. `isElse`: the index is also read if an earlier read's guards hold.
  Indices lower(const Read &read, llvm::ArrayRef<int64_t> shape, bool isElse = false);
  /// Returns whether all guards hold, as a vector if that differs between lanes; null if there are
  /// no guards.
  mlir::Value inside(llvm::ArrayRef<Guard> guards);

private:
  Index lower(const IndexAtom *atom);
  IndexExpr variable(const Index &value, int64_t size);
  Coordinates variables(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Index> values);
  IndexExpr load(mlir::Value indices, const Coordinates &at, int64_t size);
  Index binary(llvm::StringRef kind, const Index &a, const Index &b);

  Emitter &e;
  int64_t lanes;
  IndexContext x;
  llvm::DenseMap<const IndexAtom *, Index> known;
};

} // namespace dlc::cpu
#endif
