//===- Attributes.h - the stablehlo dialect's attributes and types ----------===//
#ifndef DLC_FRONTEND_MLIR_STABLEHLO_DIALECT_ATTRIBUTES_H
#define DLC_FRONTEND_MLIR_STABLEHLO_DIALECT_ATTRIBUTES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"

#include "frontend/mlir/stablehlo/dialect/Dialect.h.inc"
#include "frontend/mlir/stablehlo/dialect/Enums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "frontend/mlir/stablehlo/dialect/Attrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "frontend/mlir/stablehlo/dialect/Types.h.inc"

namespace dlc::stablehlo {

/// Adds the dialects stablehlo, chlo and sdy to a registry.
void registerDialects(mlir::DialectRegistry &registry);

/// Parses and prints the dimension numbers of a convolution, such as `[b, 0, 1, f]x[0, 1, i,
/// o]->[b, 0, 1, f]`. The parser returns null after an error.
ConvDimensionsAttr parseConvDimensions(mlir::AsmParser &parser);
void printConvDimensions(mlir::AsmPrinter &printer, ConvDimensionsAttr dimensions);

} // namespace dlc::stablehlo

#endif // DLC_FRONTEND_MLIR_STABLEHLO_DIALECT_ATTRIBUTES_H
