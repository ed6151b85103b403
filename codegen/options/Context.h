//===- Context.h - the dialects that some phase uses ----------------------===//
#ifndef DLC_CODEGEN_OPTIONS_CONTEXT_H
#define DLC_CODEGEN_OPTIONS_CONTEXT_H

#include "mlir/IR/MLIRContext.h"

namespace dlc {

/// Loads every dialect that some phase uses, and sets the context up.
void prepareContext(mlir::MLIRContext &context);
/// The same for a context that is still to be made.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace dlc

#endif // DLC_CODEGEN_OPTIONS_CONTEXT_H
