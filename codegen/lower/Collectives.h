//===- Collectives.h - what ranks share, as commands ----------------------===//
#ifndef DLC_CODEGEN_LOWER_COLLECTIVES_H
#define DLC_CODEGEN_LOWER_COLLECTIVES_H

#include "codegen/providers/LibraryCall.h"
#include "ir/exec/Exec.h"

namespace dlc::lower {

/// The command of the runtime's that a collective is, or what takes a rank's share; none for other
/// operations. There is nothing to choose: who carries it is known when a world forms.
std::optional<LibraryCall> collectiveOf(mlir::Operation *op);

/// Whether ranks meet in a command.
bool isCollective(mlir::Operation *command);

/// Lets collectives that take a part of a buffer leave their result there, where nobody reads or
/// writes that part any more. (Whole buffers are the memory planner's.)
void meetInPlace(exec::ProgramOp program);

} // namespace dlc::lower
#endif
