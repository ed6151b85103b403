//===- Context.h - dialects used by the phases ----------------------------===//
#ifndef DLC_CODEGEN_OPTIONS_CONTEXT_H
#define DLC_CODEGEN_OPTIONS_CONTEXT_H

#include "mlir/IR/MLIRContext.h"

namespace dlc {

/// Loads all dialects that the phases use.
void prepareContext(mlir::MLIRContext &context);
/// Registers the same dialects for a context that does not exist yet.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace dlc

#endif // DLC_CODEGEN_OPTIONS_CONTEXT_H
