//===- Memory.h - one arena with offsets fixed at compile time ------------===//
#ifndef DLC_CODEGEN_MEMORY_MEMORY_H
#define DLC_CODEGEN_MEMORY_MEMORY_H

#include "ir/exec/Exec.h"
#include "mlir/IR/BuiltinOps.h"

namespace dlc {

/// Assigns an offset to every exec.alloc, and the arena's size to the program. A result reuses the
/// buffer of an operand whose last use is the same command, if the command permits that.
mlir::LogicalResult planMemory(mlir::ModuleOp module);

/// Simulates the commands and checks that every byte read from the arena was written for that
/// buffer and not overwritten since. Also checks states: no old value is read after it was
/// overwritten, no new value before it is written, and each new value is complete at the end. Does
/// not rely on the planner's decisions about offsets and order.
mlir::LogicalResult verifyMemory(mlir::ModuleOp module);

/// Checks that events order any two commands of different streams that access the same bytes of
/// arenas, states or outputs, if one of them writes. Part of verifyMemory.
mlir::LogicalResult verifyRaces(exec::ProgramOp program);

/// Attribute of a library command: offset and size of an arena range that is unused while it runs.
constexpr llvm::StringLiteral kWorkspaceAttr = "room";

/// Returns the buffer that a chain of views refers to, and the chain's total byte offset.
std::pair<mlir::Value, int64_t> rootOf(mlir::Value buffer);

/// Returns the number of bytes that a view advances with each iteration of the loop around its
/// user.
int64_t stepOf(mlir::Value buffer);

/// Byte range of the root that a buffer may cover: the whole root if the view advances.
struct Extent {
  mlir::Value root;
  int64_t start = 0, bytes = 0;
};
Extent extentOf(mlir::Value buffer);

} // namespace dlc
#endif
