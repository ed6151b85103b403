//===- Clocks.h - which commands are complete when another begins ---------===//
#ifndef DLC_CODEGEN_MEMORY_CLOCKS_H
#define DLC_CODEGEN_MEMORY_CLOCKS_H

#include "ir/exec/Exec.h"

namespace dlc {

/// Logical clocks of a program with several streams: numbers the commands in list order and derives
/// from events which commands are ordered. A command X is complete before Y begins if end(X) <
/// known(Y)[stream of X].
class LogicalClocks {
public:
  explicit LogicalClocks(exec::ProgramOp program);

  unsigned streams() const { return count; }
  unsigned stream(mlir::Operation *op) const { return *exec::getStreamNumber(op); }
  int64_t begin(mlir::Operation *op) const { return begins.lookup(op); }
  int64_t end(mlir::Operation *op) const { return ends.lookup(op); }
  /// Returns, for each stream, a number: all commands of the stream with lower numbers are complete
  /// when `op` begins.
  llvm::SmallVector<int64_t> known(mlir::Operation *op) const;

private:
  void number(mlir::Block &block);

  mlir::Region &list;
  unsigned count;
  int64_t clock = 0;
  llvm::DenseMap<mlir::Operation *, int64_t> begins, ends;
  /// Result of known() for each top-level command.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int64_t>> bounds;
};

} // namespace dlc
#endif
