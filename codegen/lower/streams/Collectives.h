//===- Collectives.h - collectives as commands ----------------------------===//
#ifndef DLC_CODEGEN_LOWER_STREAMS_COLLECTIVES_H
#define DLC_CODEGEN_LOWER_STREAMS_COLLECTIVES_H

#include "codegen/providers/LibraryCall.h"
#include "ir/exec/Exec.h"

namespace dlc::lower {

/// Returns the runtime call that executes a collective, or that takes a rank's own rows
/// (OwnRowsOp); std::nullopt for other operations. No provider selects a kernel for these
/// operations, because the communication backend is chosen when the ranks connect.
std::optional<LibraryCall> makeCollectiveCall(mlir::Operation *op);

/// Returns true if `command`, a command of the lowered program, executes a collective.
bool isCollective(mlir::Operation *command);

/// Makes collectives that read a part of a buffer write their result to the same part, if the part
/// is not used afterwards. The memory planner does this only for whole buffers.
void makeCollectivesInPlace(exec::ProgramOp program);

} // namespace dlc::lower
#endif
