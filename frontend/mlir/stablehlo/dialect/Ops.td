//===- Ops.td - all operations of the stablehlo dialect ---------------------===//
include "frontend/mlir/stablehlo/dialect/Elementwise.td"
include "frontend/mlir/stablehlo/dialect/Shape.td"
include "frontend/mlir/stablehlo/dialect/Reduce.td"
include "frontend/mlir/stablehlo/dialect/Contract.td"
include "frontend/mlir/stablehlo/dialect/Control.td"
