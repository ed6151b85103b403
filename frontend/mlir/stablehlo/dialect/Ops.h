//===- Ops.h - headers that the generated classes of operations require --------===//
#ifndef DLC_FRONTEND_MLIR_STABLEHLO_DIALECT_OPS_H
#define DLC_FRONTEND_MLIR_STABLEHLO_DIALECT_OPS_H

#include "frontend/mlir/stablehlo/dialect/Attributes.h"
#include "frontend/mlir/stablehlo/dialect/Format.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

#endif // DLC_FRONTEND_MLIR_STABLEHLO_DIALECT_OPS_H
