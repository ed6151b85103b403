//===- Elementwise.cpp - operations of Elementwise.td ---===//
#include "frontend/mlir/stablehlo/dialect/Ops.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "frontend/mlir/stablehlo/dialect/Elementwise.h.inc"
#define GET_OP_CLASSES
#include "frontend/mlir/stablehlo/dialect/Elementwise.cpp.inc"

void dlc::stablehlo::StablehloDialect::registerElementwise() {
  addOperations<
#define GET_OP_LIST
#include "frontend/mlir/stablehlo/dialect/Elementwise.cpp.inc"
      >();
}
