//===- Registration.h - dialects and passes of the IR tools ---------------===//
#ifndef DLC_TOOLS_OPT_REGISTRATION_H
#define DLC_TOOLS_OPT_REGISTRATION_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir {
class OpPassManager;
}

namespace dlc {

/// Registers the dialects that modules of all compilation phases use.
void registerToolDialects(mlir::DialectRegistry &registry);

/// Registers all passes of the project and MLIR's general ones (canonicalize, cse, inline,
/// symbol-dce, ..).
void registerToolPasses();

/// Registers the passes that import modules of other dialects.
void registerImportPasses();
/// Adds the passes of the import phase, which import modules of other dialects.
void addImportPasses(mlir::OpPassManager &passes);

} // namespace dlc

#endif // DLC_TOOLS_OPT_REGISTRATION_H
