//===- TransferDependencies.h - transfers that operations depend on -------===//
#ifndef DLC_PASSES_FUSE_GROUPING_TRANSFERDEPENDENCIES_H
#define DLC_PASSES_FUSE_GROUPING_TRANSFERDEPENDENCIES_H

#include "passes/TensorBuilder.h"
#include "llvm/ADT/DenseMap.h"

#include <map>

namespace dlc {

/// Determines the transfers between devices on which each operation depends. A kernel starts when
/// all of its operands are available, so that fusion delays an operation without transfer
/// dependencies if another operation of the kernel has one. Therefore one kernel contains only
/// operations that depend on the same transfers.
class TransferDependencies {
public:
  explicit TransferDependencies(mlir::Block &block);

  /// Returns whether the operations depend on the same transfers. Operations with little work are
  /// ignored: they may wait in one kernel for transfers that they do not depend on.
  bool dependOnSameTransfers(llvm::ArrayRef<mlir::Operation *> ops);
  void copyOf(mlir::Operation *copy, mlir::Operation *op);

private:
  using Set = std::vector<mlir::Operation *>;
  /// Returns the number that identifies the set of transfers on which `op` depends. Equal sets have
  /// equal numbers, and 0 is the empty set.
  unsigned setOf(mlir::Operation *op);
  unsigned numberOf(Set set);

  mlir::Block &block;
  bool hasTransfers = false;
  llvm::DenseMap<mlir::Operation *, unsigned> known;
  std::map<Set, unsigned> numbers;
  std::vector<Set> sets;
};

} // namespace dlc

#endif // DLC_PASSES_FUSE_GROUPING_TRANSFERDEPENDENCIES_H
