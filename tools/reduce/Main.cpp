//===- Main.cpp - dlc-reduce: reduces a module that reproduces a bug ------===//
#include "tools/opt/Registration.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  dlc::registerToolDialects(registry);
  dlc::registerToolPasses();
  mlir::MLIRContext context(registry);
  return llvm::failed(mlir::mlirReduceMain(argc, argv, context));
}
