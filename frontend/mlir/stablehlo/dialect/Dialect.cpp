//===- Dialect.cpp - registers the stablehlo dialect --------------------------===//
#include "frontend/mlir/stablehlo/dialect/Attributes.h"
#include "frontend/mlir/stablehlo/dialect/Chlo.h"
#include "frontend/mlir/stablehlo/dialect/Sdy.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dlc::stablehlo;

#include "frontend/mlir/stablehlo/dialect/Dialect.cpp.inc"
#include "frontend/mlir/stablehlo/dialect/Enums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "frontend/mlir/stablehlo/dialect/Attrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "frontend/mlir/stablehlo/dialect/Types.cpp.inc"

void StablehloDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "frontend/mlir/stablehlo/dialect/Attrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "frontend/mlir/stablehlo/dialect/Types.cpp.inc"
      >();
  registerElementwise();
  registerShape();
  registerReduce();
  registerContract();
  registerControl();
}

void dlc::stablehlo::registerDialects(DialectRegistry &registry) {
  registry.insert<StablehloDialect, chlo::ChloDialect, SdyDialect>();
}
