//===- Opt.cpp - dlc-opt: runs passes on textual IR -----------------------===//
#include "tools/opt/Registration.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

namespace dlc {
int dlcOptMain(int argc, char **argv);
}

int dlc::dlcOptMain(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registerToolDialects(registry);
  registerToolPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "dlc's pass driver\n", registry));
}
