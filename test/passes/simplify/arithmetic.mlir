// RUN: dlc-opt %s --dlc-simplify --split-input-file | FileCheck %s

// CHECK-LABEL: @square
// CHECK: dlc.mul %arg0, %arg0
func.func @square(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = dlc.constant dense<2.0> : tensor<f32>
  %y = dlc.pow %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: @root
// CHECK-NEXT: %[[A:.*]] = dlc.abs %arg0
// CHECK-NEXT: dlc.sqrt %[[A]]
func.func @root(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = dlc.constant dense<0.5> : tensor<f32>
  %a = dlc.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  %y = dlc.pow %a, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// An exponent of another shape is not folded.
// CHECK-LABEL: @stretching
// CHECK: dlc.pow
func.func @stretching(%x: tensor<1xf32>) -> tensor<4xf32> {
  %c = dlc.constant dense<2.0> : tensor<4xf32>
  %y = dlc.pow %x, %c : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: @reciprocal_root
// CHECK: %[[R:.*]] = dlc.rsqrt %arg1
// CHECK: dlc.mul %arg0, %[[R]]
func.func @reciprocal_root(%x: tensor<4xf32>, %v: tensor<4xf32>) -> tensor<4xf32> {
  %s = dlc.sqrt %v : (tensor<4xf32>) -> tensor<4xf32>
  %y = dlc.div %x, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Division by a power of two is exact as a multiplication; division by 3 is not.
// CHECK-LABEL: @division
// CHECK-DAG: %[[EIGHTH:.*]] = dlc.constant dense<1.250000e-01>
// CHECK-DAG: %[[THREE:.*]] = dlc.constant dense<3.000000e+00>
// CHECK: %[[Y:.*]] = dlc.mul %arg0, %[[EIGHTH]]
// CHECK: dlc.div %[[Y]], %[[THREE]]
func.func @division(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = dlc.constant dense<8.0> : tensor<f32>
  %t = dlc.constant dense<3.0> : tensor<f32>
  %y = dlc.div %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %z = dlc.div %y, %t : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// -----

// CHECK-LABEL: @chain
// CHECK: %[[C:.*]] = dlc.constant dense<6.000000e+00>
// CHECK: %[[Y:.*]] = dlc.mul %arg0, %[[C]]
// CHECK: return %[[Y]]
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = dlc.constant dense<2.0> : tensor<f32>
  %b = dlc.constant dense<3.0> : tensor<f32>
  %y = dlc.mul %x, %a : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %z = dlc.mul %b, %y : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// -----

// CHECK-LABEL: @relu
// CHECK: dlc.relu %arg0
func.func @relu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = dlc.constant dense<0.0> : tensor<f32>
  %y = dlc.max %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
