//===- Memory.h - one arena, offsets fixed at compile time ----------------===//
#ifndef DLC_CODEGEN_MEMORY_MEMORY_H
#define DLC_CODEGEN_MEMORY_MEMORY_H

#include "ir/exec/Exec.h"
#include "mlir/IR/BuiltinOps.h"

namespace dlc {

/// Gives every exec.alloc its offset and the program its arena's size. A result takes over the
/// buffer of an operand that dies at the same command where the command allows that.
mlir::LogicalResult planMemory(mlir::ModuleOp module);

/// Plays the commands and checks that every byte read from the arena is the reader's own: written
/// for that buffer, and not written over since. The same for state: nobody reads an old value that
/// was written over, or a new one too early, and a new value is whole at the end. Knows nothing of
/// how the planner came to its offsets and the order.
mlir::LogicalResult verifyMemory(mlir::ModuleOp module);

/// Checks that events order every two commands of different streams that touch the same bytes, one
/// of them writing: of arenas, states and outputs. Part of verifyMemory.
mlir::LogicalResult verifyRaces(exec::ProgramOp program);

/// Of a library's command: where in the arena, and how many bytes, nobody uses while it runs.
constexpr llvm::StringLiteral kRoomAttr = "room";

/// The buffer that a chain of views looks into, and the bytes skipped on the way.
std::pair<mlir::Value, int64_t> rootOf(mlir::Value buffer);

/// How many bytes a view moves on with each iteration of the loop around who uses it.
int64_t stepOf(mlir::Value buffer);

/// The bytes of its root that a buffer may be: all of them where it moves.
struct Extent {
  mlir::Value root;
  int64_t start = 0, bytes = 0;
};
Extent extentOf(mlir::Value buffer);

} // namespace dlc
#endif
