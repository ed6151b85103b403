// RUN: dlc-opt %s --dlc-simplify --split-input-file | FileCheck %s

// As exported by PyTorch: rows of merged images, with ones and zeros, then a scale and a bias per channel.
// CHECK-LABEL: @exported
// CHECK: %[[S:.*]] = dlc.reshape %arg1 : (tensor<6x1x1xf32>) -> tensor<6xf32>
// CHECK: %[[B:.*]] = dlc.reshape %arg2 : (tensor<1x6x1x1xf32>) -> tensor<6xf32>
// CHECK: %[[Y:.*]] = dlc.group_norm %arg0 scale %[[S]] bias %[[B]] {eps = 1.000000e-05 : f64, groups = 2 : i64}
// CHECK-NEXT: return %[[Y]]
func.func @exported(%x: tensor<3x6x4x5xf32>, %s: tensor<6x1x1xf32>, %b: tensor<1x6x1x1xf32>) -> tensor<3x6x4x5xf32> {
  %one = dlc.constant dense<1.0> : tensor<2xf32>
  %zero = dlc.constant dense<0.0> : tensor<2xf32>
  %0 = dlc.reshape %x : (tensor<3x6x4x5xf32>) -> tensor<3x2x60xf32>
  %1 = dlc.group_norm %0 scale %one bias %zero {groups = 2 : i64, eps = 1.0e-5 : f64} : (tensor<3x2x60xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<3x2x60xf32>
  %2 = dlc.reshape %1 : (tensor<3x2x60xf32>) -> tensor<3x6x4x5xf32>
  %3 = dlc.mul %2, %s : (tensor<3x6x4x5xf32>, tensor<6x1x1xf32>) -> tensor<3x6x4x5xf32>
  %4 = dlc.add %b, %3 : (tensor<1x6x1x1xf32>, tensor<3x6x4x5xf32>) -> tensor<3x6x4x5xf32>
  return %4 : tensor<3x6x4x5xf32>
}

// -----

// The same as layer_norm; a scale per group applies to all of its channels.
// CHECK-LABEL: @rows
// CHECK: dlc.group_norm %arg0 {eps = 1.000000e-05 : f64, groups = 2 : i64}
// CHECK: %[[S:.*]] = dlc.reshape %{{.*}} : (tensor<2x3xf32>) -> tensor<6xf32>
// CHECK: dlc.group_norm %arg0 scale %[[S]] {eps = 1.000000e-05 : f64, groups = 2 : i64}
func.func @rows(%x: tensor<3x6x4x5xf32>, %s: tensor<2xf32>) -> (tensor<3x6x4x5xf32>, tensor<3x6x4x5xf32>) {
  %0 = dlc.reshape %x : (tensor<3x6x4x5xf32>) -> tensor<3x2x60xf32>
  %1 = dlc.layer_norm %0 {axis = 2 : i64, eps = 1.0e-5 : f64} : (tensor<3x2x60xf32>) -> tensor<3x2x60xf32>
  %2 = dlc.reshape %1 : (tensor<3x2x60xf32>) -> tensor<3x6x4x5xf32>
  %3 = dlc.group_norm %0 scale %s {groups = 2 : i64, eps = 1.0e-5 : f64} : (tensor<3x2x60xf32>, tensor<2xf32>) -> tensor<3x2x60xf32>
  %4 = dlc.reshape %3 : (tensor<3x2x60xf32>) -> tensor<3x6x4x5xf32>
  return %2, %4 : tensor<3x6x4x5xf32>, tensor<3x6x4x5xf32>
}

// -----

// Not groups of channels, not one scale per channel, and a value with another reader.
// CHECK-LABEL: @others
// CHECK: dlc.layer_norm
// CHECK: dlc.group_norm %arg0 {
// CHECK: dlc.mul
// CHECK: dlc.group_norm %arg0 {
// CHECK: dlc.add
func.func @others(%x: tensor<3x6x4x5xf32>, %s: tensor<4x1xf32>, %b: tensor<6x1x1xf32>) -> (tensor<3x6x4x5xf32>, tensor<3x6x4x5xf32>, tensor<3x6x4x5xf32>, tensor<3x6x4x5xf32>) {
  %0 = dlc.reshape %x : (tensor<3x6x4x5xf32>) -> tensor<3x4x30xf32>
  %1 = dlc.layer_norm %0 {axis = 2 : i64, eps = 1.0e-5 : f64} : (tensor<3x4x30xf32>) -> tensor<3x4x30xf32>
  %2 = dlc.reshape %1 : (tensor<3x4x30xf32>) -> tensor<3x6x4x5xf32>
  %3 = dlc.group_norm %x {groups = 2 : i64, eps = 1.0e-5 : f64} : (tensor<3x6x4x5xf32>) -> tensor<3x6x4x5xf32>
  %4 = dlc.mul %3, %s : (tensor<3x6x4x5xf32>, tensor<4x1xf32>) -> tensor<3x6x4x5xf32>
  %5 = dlc.group_norm %x {groups = 3 : i64, eps = 1.0e-5 : f64} : (tensor<3x6x4x5xf32>) -> tensor<3x6x4x5xf32>
  %6 = dlc.add %5, %b : (tensor<3x6x4x5xf32>, tensor<6x1x1xf32>) -> tensor<3x6x4x5xf32>
  return %2, %4, %5, %6 : tensor<3x6x4x5xf32>, tensor<3x6x4x5xf32>, tensor<3x6x4x5xf32>, tensor<3x6x4x5xf32>
}
