//===- Contract.cpp - operations of Contract.td ---===//
#include "frontend/mlir/stablehlo/dialect/Ops.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "frontend/mlir/stablehlo/dialect/Contract.h.inc"
#define GET_OP_CLASSES
#include "frontend/mlir/stablehlo/dialect/Contract.cpp.inc"

void dlc::stablehlo::StablehloDialect::registerContract() {
  addOperations<
#define GET_OP_LIST
#include "frontend/mlir/stablehlo/dialect/Contract.cpp.inc"
      >();
}
