//===- Main.cpp - dlc-lsp-server: language server for textual IR ----------===//
#include "tools/opt/Registration.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/LogicalResult.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  dlc::registerToolDialects(registry);
  return llvm::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
