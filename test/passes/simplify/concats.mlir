// Users of concatenations whose operands have sizes over symbols. The sum of the sizes is a number.
// RUN: dlc-opt %s --dlc-simplify --split-input-file | FileCheck %s

// The start of the last operand is known only as a sum of two unknown sizes.
// CHECK-LABEL: @slice
// CHECK: %[[C:.*]] = dlc.concat 0(%arg0, %arg1, %arg2)
// CHECK: dlc.slice %[[C]] start [0] size [2] stride [1]
#batch = #size.symbol<"batch", "1..5">
#rest = #size.expr<"6 - batch", [#batch]>
func.func @slice(%x: tensor<?xf32, #size.dims<[#batch]>>, %y: tensor<?xf32, #size.dims<[#rest]>>, %z: tensor<2xf32>) -> tensor<2xf32> {
  %0 = dlc.concat 0(%x, %y, %z) : (tensor<?xf32, #size.dims<[#batch]>>, tensor<?xf32, #size.dims<[#rest]>>, tensor<2xf32>) -> tensor<8xf32>
  %1 = dlc.slice %0 start [0] size [2] stride [1] : (tensor<8xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// CHECK-LABEL: @reduce
// CHECK: %[[C:.*]] = dlc.concat 1(%arg0, %arg1)
// CHECK: %[[E:.*]] = dlc.exp %[[C]]
// CHECK: dlc.reduce sum %[[E]] axes [1]
#batch = #size.symbol<"batch", "1..7">
#rest = #size.expr<"8 - batch", [#batch]>
func.func @reduce(%x: tensor<4x?xf32, #size.dims<[#batch]>>, %y: tensor<4x?xf32, #size.dims<[#rest]>>) -> tensor<4xf32> {
  %0 = dlc.concat 1(%x, %y) : (tensor<4x?xf32, #size.dims<[#batch]>>, tensor<4x?xf32, #size.dims<[#rest]>>) -> tensor<4x8xf32>
  %1 = dlc.exp %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = dlc.reduce sum %1 axes [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
