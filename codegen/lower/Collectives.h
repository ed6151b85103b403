//===- Collectives.h - what ranks share, as commands ----------------------===//
#ifndef DLC_CODEGEN_LOWER_COLLECTIVES_H
#define DLC_CODEGEN_LOWER_COLLECTIVES_H

#include "codegen/providers/LibraryCall.h"

namespace dlc::lower {

/// The command of the runtime's that a collective is, or what takes a rank's share; none for other
/// operations. There is nothing to choose: who carries it is known when a world forms.
std::optional<LibraryCall> collectiveOf(mlir::Operation *op);

/// Whether ranks meet in a command.
bool isCollective(mlir::Operation *command);

} // namespace dlc::lower
#endif
