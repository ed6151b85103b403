//===- Clocks.h - which commands are complete when another begins ---------===//
#ifndef DLC_CODEGEN_MEMORY_CLOCKS_H
#define DLC_CODEGEN_MEMORY_CLOCKS_H

#include "ir/exec/Exec.h"

namespace dlc {

/// Numbers commands in list order and derives their order from events. A command X is complete
/// before Y begins if end(X) < known(Y)[stream of X].
class Clocks {
public:
  explicit Clocks(exec::ProgramOp program);

  unsigned streams() const { return count; }
  unsigned stream(mlir::Operation *op) const { return *exec::streamOf(op); }
  int64_t begin(mlir::Operation *op) const { return begins.lookup(op); }
  int64_t end(mlir::Operation *op) const { return ends.lookup(op); }
  /// For each stream: commands with lower numbers are complete when the command begins.
  llvm::SmallVector<int64_t> known(mlir::Operation *op) const;

private:
  void number(mlir::Block &block);

  mlir::Region &list;
  unsigned count;
  int64_t clock = 0;
  llvm::DenseMap<mlir::Operation *, int64_t> begins, ends;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int64_t>> bounds; ///< of top-level commands
};

} // namespace dlc
#endif
