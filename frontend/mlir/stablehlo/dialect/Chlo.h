//===- Chlo.h - the chlo dialect ----------------------------------------------===//
#ifndef DLC_FRONTEND_MLIR_STABLEHLO_DIALECT_CHLO_H
#define DLC_FRONTEND_MLIR_STABLEHLO_DIALECT_CHLO_H

#include "mlir/IR/Dialect.h"

#include "frontend/mlir/stablehlo/dialect/ChloDialect.h.inc"

#endif // DLC_FRONTEND_MLIR_STABLEHLO_DIALECT_CHLO_H
