//===- Registration.cpp - what the IR tools know: dialects and passes -----===//
#include "tools/opt/Registration.h"

#include "codegen/Passes.h"
#include "ir/dlc/Dialect.h"
#include "ir/exec/Exec.h"
#include "ir/reference/Passes.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"

void dlc::registerToolDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::func::FuncDialect, dlc::DlcDialect, dlc::exec::ExecDialect>();
}

void dlc::registerToolPasses() {
  mlir::registerTransformsPasses();
  dlc::registerPasses();
  dlc::registerCodegenPasses();
  dlc::ref::registerReferencePasses();
}
