//===- Main.cpp - dlc-opt: runs passes on textual IR ----------------------===//
#include "tools/opt/Registration.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  dlc::registerToolDialects(registry);
  dlc::registerToolPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "dlc's pass driver\n", registry));
}
