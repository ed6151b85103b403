//===- Registration.h - what the IR tools know: dialects and passes -------===//
#ifndef DLC_TOOLS_OPT_REGISTRATION_H
#define DLC_TOOLS_OPT_REGISTRATION_H

#include "mlir/IR/DialectRegistry.h"

namespace dlc {

/// The dialects that a module of any phase may hold.
void registerToolDialects(mlir::DialectRegistry &registry);

/// Every pass of the project, and MLIR's general ones (canonicalize, cse, inline, symbol-dce, ..).
void registerToolPasses();

} // namespace dlc

#endif // DLC_TOOLS_OPT_REGISTRATION_H
