//===- Waits.h - which transfers operations wait for ----------------------===//
#ifndef DLC_PASSES_FUSE_WAITS_H
#define DLC_PASSES_FUSE_WAITS_H

#include "passes/TensorBuilder.h"
#include "llvm/ADT/DenseMap.h"

#include <map>

namespace dlc {

/// A kernel waits as a whole: work that needs nothing from another device would wait for what the
/// rest of the kernel needs. So one kernel holds only operations that wait for the same transfers.
class Waits {
public:
  explicit Waits(mlir::Block &block);

  /// Whether no more than little work among them would wait for transfers that it does not need.
  bool alike(llvm::ArrayRef<mlir::Operation *> ops);
  void copyOf(mlir::Operation *copy, mlir::Operation *op);

private:
  using Set = std::vector<mlir::Operation *>;
  /// Equal numbers, equal sets of transfers; 0 is the empty one.
  unsigned setOf(mlir::Operation *op);
  unsigned numberOf(Set set);

  mlir::Block &block;
  bool hasTransfers = false;
  llvm::DenseMap<mlir::Operation *, unsigned> known;
  std::map<Set, unsigned> numbers;
  std::vector<Set> sets;
};

} // namespace dlc

#endif // DLC_PASSES_FUSE_WAITS_H
