//===- Memory.h - one arena with offsets fixed at compile time ------------===//
#ifndef DLC_CODEGEN_MEMORY_MEMORY_H
#define DLC_CODEGEN_MEMORY_MEMORY_H

#include "ir/exec/Exec.h"
#include "mlir/IR/BuiltinOps.h"

namespace dlc {

/// Plans the arena: assigns an offset to every exec.alloc and stores the arena's size in the
/// program. A result reuses the buffer of an operand if the same command is the operand's last use
/// and permits this.
mlir::LogicalResult planMemory(mlir::ModuleOp module);

/// Checks the memory plan by simulation of the commands: every byte that a command reads from the
/// arena was written for the same buffer and not overwritten since. For states: no old value is
/// read after it was overwritten, no new value is read before it is written, and each new value is
/// complete at the end. The check does not rely on the planner's decisions about offsets and order.
mlir::LogicalResult verifyMemory(mlir::ModuleOp module);

/// Checks that events order any two commands of different streams that access the same bytes of
/// arenas, states or outputs, if at least one of them writes, and that concurrent loops do not
/// access such bytes. verifyMemory calls this check.
mlir::LogicalResult verifyRaces(exec::ProgramOp program);

/// Returns the buffer that a chain of views refers to, and the chain's total byte offset.
std::pair<mlir::Value, int64_t> findRootBuffer(mlir::Value buffer);

/// Returns the number of bytes by which a view advances in each iteration of the loop around its
/// user; 0 for a fixed view.
int64_t getViewStep(mlir::Value buffer);

/// Range of bytes in an allocated buffer (`root`) that a buffer may cover. It is the whole root if
/// the buffer is a view that advances in a loop.
struct BufferExtent {
  mlir::Value root;
  int64_t start = 0, bytes = 0;
};
BufferExtent getBufferExtent(mlir::Value buffer);

} // namespace dlc
#endif
