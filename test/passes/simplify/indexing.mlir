// RUN: dlc-opt %s --dlc-simplify --split-input-file | FileCheck %s

// CHECK-LABEL: @gather
// CHECK: %[[S:.*]] = dlc.slice %arg0 start [2, 0] size [1, 4] stride [1, 1]
// CHECK: dlc.reshape %[[S]] : (tensor<1x4xf32>) -> tensor<4xf32>
func.func @gather(%x: tensor<3x4xf32>) -> tensor<4xf32> {
  %i = dlc.constant dense<-1> : tensor<i64>
  %y = dlc.gather 0 %x, %i : (tensor<3x4xf32>, tensor<i64>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: @progression
// CHECK: dlc.slice %arg0 start [0, 3] size [3, 2] stride [1, -2]
func.func @progression(%x: tensor<3x4xf32>) -> tensor<3x2xf32> {
  %i = dlc.constant dense<[3, 1]> : tensor<2xi64>
  %y = dlc.gather 1 %x, %i : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// -----

// CHECK-LABEL: @slice_of_concat
// CHECK: dlc.slice %arg1 start [1, 0] size [1, 4]
func.func @slice_of_concat(%a: tensor<3x4xf32>, %b: tensor<3x4xf32>) -> tensor<1x4xf32> {
  %c = dlc.concat 0 (%a, %b) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<6x4xf32>
  %y = dlc.slice %c start [4, 0] size [1, 4] stride [1, 1] : (tensor<6x4xf32>) -> tensor<1x4xf32>
  return %y : tensor<1x4xf32>
}

// -----

// CHECK-LABEL: @needless_broadcast
// CHECK-NEXT: dlc.add %arg0, %arg1
func.func @needless_broadcast(%a: tensor<3x4xf32>, %b: tensor<4xf32>) -> tensor<3x4xf32> {
  %e = dlc.broadcast %b : (tensor<4xf32>) -> tensor<3x4xf32>
  %y = dlc.add %a, %e : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}
