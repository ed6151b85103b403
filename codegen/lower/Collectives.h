//===- Collectives.h - collectives as commands ----------------------------===//
#ifndef DLC_CODEGEN_LOWER_COLLECTIVES_H
#define DLC_CODEGEN_LOWER_COLLECTIVES_H

#include "codegen/providers/LibraryCall.h"
#include "ir/exec/Exec.h"

namespace dlc::lower {

/// Returns the runtime's command for a collective, or for taking a rank's own rows; std::nullopt
/// for other operations. No kernel is selected, because the communication backend is chosen when
/// the ranks connect.
std::optional<LibraryCall> collectiveOf(mlir::Operation *op);

/// Returns true if the command is a collective.
bool isCollective(mlir::Operation *command);

/// Lets collectives that read a part of a buffer write their result to the same place, if that part
/// is not used afterwards. (The memory planner does the same for whole buffers.)
void makeCollectivesInPlace(exec::ProgramOp program);

} // namespace dlc::lower
#endif
