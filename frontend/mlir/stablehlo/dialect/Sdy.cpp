//===- Sdy.cpp - the sdy dialect, whose operations have no effect on one device ----===//
#include "frontend/mlir/stablehlo/dialect/Sdy.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

MLIR_DEFINE_EXPLICIT_TYPE_ID(dlc::stablehlo::SdyDialect)

namespace dlc::stablehlo {

SdyDialect::SdyDialect(MLIRContext *context)
    : Dialect(getDialectNamespace(), context, TypeID::get<SdyDialect>()) {
  allowUnknownOperations();
}

Attribute SdyDialect::parseAttribute(DialectAsmParser &parser, Type) const {
  return StringAttr::get(getContext(), parser.getFullSymbolSpec());
}

} // namespace dlc::stablehlo
