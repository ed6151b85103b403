// RUN: dlc-opt %s --dlc-simplify --split-input-file | FileCheck %s

// The scales of attention as torch exports it: one product after the matrix product, which keeps its attributes.
// CHECK-LABEL: @scale
// CHECK: %[[C:.*]] = dlc.constant dense<2.500000e-01> : tensor<f32>
// CHECK: %[[M:.*]] = dlc.matmul %arg0, %arg1 transpose_b {dlc.accuracy = "fast"}
// CHECK: dlc.mul %[[M]], %[[C]]
func.func @scale(%q: tensor<2x3x4xf32>, %k: tensor<2x5x4xf32>) -> tensor<2x3x5xf32> {
  %c = dlc.constant dense<0.5> : tensor<f32>
  %qs = dlc.mul %q, %c : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  %t = dlc.transpose %k [0, 2, 1] : (tensor<2x5x4xf32>) -> tensor<2x4x5xf32>
  %ks = dlc.mul %t, %c : (tensor<2x4x5xf32>, tensor<f32>) -> tensor<2x4x5xf32>
  %y = dlc.matmul %qs, %ks {dlc.accuracy = "fast"} : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}

// -----

// A strict product keeps the bits of its operands.
// CHECK-LABEL: @strict_scale
// CHECK: %[[S:.*]] = dlc.mul %arg0
// CHECK: dlc.matmul %[[S]], %arg1
func.func @strict_scale(%q: tensor<3x4xf32>, %k: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %c = dlc.constant dense<0.5> : tensor<f32>
  %s = dlc.mul %q, %c : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %y = dlc.matmul %s, %k {dlc.accuracy = "strict"} : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

// CHECK-LABEL: @broadcast
// CHECK-NEXT: dlc.matmul %arg0, %arg1
func.func @broadcast(%a: tensor<2x3x4xf32>, %b: tensor<1x4x5xf32>) -> tensor<2x3x5xf32> {
  %e = dlc.broadcast %b : (tensor<1x4x5xf32>) -> tensor<2x4x5xf32>
  %y = dlc.matmul %a, %e : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}

// -----

// Matrices of groups of rows are read as they lie.
// CHECK-LABEL: @groups
// CHECK-NEXT: %[[Y:.*]] = dlc.grouped_matmul %arg0, %arg1 ends %arg2 transpose_b
// CHECK-NEXT: %[[Z:.*]] = dlc.grouped_matmul %[[Y]], %arg1 ends %arg2 :
// CHECK-NEXT: return %[[Z]]
func.func @groups(%x: tensor<6x4xf32>, %w: tensor<2x5x4xf32>, %e: tensor<2xi32>) -> tensor<6x4xf32> {
  %t = dlc.transpose %w [0, 2, 1] : (tensor<2x5x4xf32>) -> tensor<2x4x5xf32>
  %y = dlc.grouped_matmul %x, %t ends %e : (tensor<6x4xf32>, tensor<2x4x5xf32>, tensor<2xi32>) -> tensor<6x5xf32>
  %z = dlc.grouped_matmul %y, %t ends %e transpose_b : (tensor<6x5xf32>, tensor<2x4x5xf32>, tensor<2xi32>) -> tensor<6x4xf32>
  return %z : tensor<6x4xf32>
}

// -----

// CHECK-LABEL: @groups_gradient
// CHECK-NEXT: %[[Z:.*]] = dlc.grouped_weight_grad %arg1, %arg0 ends %arg2
// CHECK-NEXT: return %[[Z]]
func.func @groups_gradient(%x: tensor<6x4xf32>, %dy: tensor<6x5xf32>, %e: tensor<2xi32>) -> tensor<2x5x4xf32> {
  %y = dlc.grouped_weight_grad %x, %dy ends %e : (tensor<6x4xf32>, tensor<6x5xf32>, tensor<2xi32>) -> tensor<2x4x5xf32>
  %z = dlc.transpose %y [0, 2, 1] : (tensor<2x4x5xf32>) -> tensor<2x5x4xf32>
  return %z : tensor<2x5x4xf32>
}
