//===- Chlo.cpp - the chlo dialect ---------------------------------------------===//
#include "frontend/mlir/stablehlo/dialect/Chlo.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

#include "frontend/mlir/stablehlo/dialect/ChloDialect.cpp.inc"
#define GET_OP_CLASSES
#include "frontend/mlir/stablehlo/dialect/Chlo.h.inc"
#define GET_OP_CLASSES
#include "frontend/mlir/stablehlo/dialect/Chlo.cpp.inc"

void dlc::chlo::ChloDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "frontend/mlir/stablehlo/dialect/Chlo.cpp.inc"
      >();
}
