//===- Context.h - dialects used by the phases ----------------------------===//
#ifndef DLC_CODEGEN_OPTIONS_CONTEXT_H
#define DLC_CODEGEN_OPTIONS_CONTEXT_H

#include "mlir/IR/MLIRContext.h"

namespace dlc {

/// Loads the dialects that the compilation phases use into `context`.
void prepareContext(mlir::MLIRContext &context);
/// Registers the dialects that the compilation phases use, for a context that is created later.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace dlc

#endif // DLC_CODEGEN_OPTIONS_CONTEXT_H
