//===- IndexLowering.h - maps of indices as instructions -------------------===//
//
// An operation's map is read over a variable for each dimension. Here each stands for a coordinate
// of the kernel, which may differ from lane to lane: an expression in which such a coordinate
// stands by itself still has its lanes one step apart, one that divides it has a vector of places.
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

  /// What the operation's result at `at` is made of, in its term `over`.
  llvm::SmallVector<Read, 2> readsOf(mlir::Operation *op, const Indices &at,
                                     llvm::ArrayRef<Index> over = {});
  /// Where `op` moves an element from, if that follows from the index alone.
  std::optional<Indices> movedIndex(mlir::Operation *op, const Indices &at);

  Index lower(const IndexExpr &expression);
  /// Where it is read, were all guards to hold.
  Indices lower(const Read &read);
  /// The element of an operand of this shape; within it, whether the guards hold or not. `isElse`:
  /// it is read, too, where an earlier read's guards hold.
  Indices lower(const Read &read, llvm::ArrayRef<int64_t> shape, bool isElse = false);
  /// Whether all guards hold, for each lane where they differ; null where there is none.
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
