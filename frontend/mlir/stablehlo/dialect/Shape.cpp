//===- Shape.cpp - operations of Shape.td ---===//
#include "frontend/mlir/stablehlo/dialect/Ops.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "frontend/mlir/stablehlo/dialect/Shape.h.inc"
#define GET_OP_CLASSES
#include "frontend/mlir/stablehlo/dialect/Shape.cpp.inc"

void dlc::stablehlo::StablehloDialect::registerShape() {
  addOperations<
#define GET_OP_LIST
#include "frontend/mlir/stablehlo/dialect/Shape.cpp.inc"
      >();
}
