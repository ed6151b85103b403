// On a GPU a contraction in i32 reads weights of 8 bits, those of products with their neighbours along the depth; on processors they stay.
// RUN: dlc-opt %s -dlc-place=device=cuda:0 -dlc-fuse | FileCheck %s
// RUN: dlc-opt %s -dlc-place=device=cpu -dlc-fuse | FileCheck %s --check-prefix=CPU

// CHECK-LABEL: @product
// CHECK: %[[W:.*]] = dlc.constant dense<{{\[}}[-3, 5, 7], [4, -6, 8]]> : tensor<2x3xi8
// CHECK: dlc.fusion({{.*}} = %[[W]]
// CHECK: dlc.cast {{.*}} to i32 : (tensor<2x3xi8
// CHECK: dlc.matmul {{.*}} transpose_b : (tensor<4x3xi32{{.*}}, tensor<2x3xi32
// CPU-LABEL: @product
// CPU: dlc.constant {{.*}} : tensor<3x2xi32
func.func @product(%x: tensor<4x3xui8>) -> tensor<4x2xi32> {
  %w = dlc.constant dense<[[-3, 4], [5, -6], [7, 8]]> : tensor<3x2xi32>
  %0 = dlc.cast %x to i32 : (tensor<4x3xui8>) -> tensor<4x3xi32>
  %1 = dlc.matmul %0, %w : (tensor<4x3xi32>, tensor<3x2xi32>) -> tensor<4x2xi32>
  return %1 : tensor<4x2xi32>
}

// Those that no i8 holds are counted from the least of them.
// CHECK-LABEL: @shifted
// CHECK-DAG: dlc.constant dense<{{\[}}[0, 14, 255]]> : tensor<1x3xui8
// CHECK-DAG: dlc.constant dense<4> : tensor<i32
// CHECK: dlc.sub
// CHECK: dlc.matmul
func.func @shifted(%x: tensor<4x3xi8>) -> tensor<4x1xi32> {
  %w = dlc.constant dense<[[-4], [10], [251]]> : tensor<3x1xi32>
  %0 = dlc.cast %x to i32 : (tensor<4x3xi8>) -> tensor<4x3xi32>
  %1 = dlc.matmul %0, %w : (tensor<4x3xi32>, tensor<3x1xi32>) -> tensor<4x1xi32>
  return %1 : tensor<4x1xi32>
}

// Nor in 8 bits at all.
// CHECK-LABEL: @wide
// CHECK: dlc.matmul {{.*}}tensor<3x1xi32
func.func @wide(%x: tensor<4x3xi8>) -> tensor<4x1xi32> {
  %w = dlc.constant dense<[[-4], [10], [252]]> : tensor<3x1xi32>
  %0 = dlc.cast %x to i32 : (tensor<4x3xi8>) -> tensor<4x3xi32>
  %1 = dlc.matmul %0, %w : (tensor<4x3xi32>, tensor<3x1xi32>) -> tensor<4x1xi32>
  return %1 : tensor<4x1xi32>
}

// A zero point of 8 bits comes along, and what follows joins up to 8 bits again.
// CHECK-LABEL: @image
// CHECK: dlc.fusion(
// CHECK: dlc.cast {{.*}} to i32 : (tensor<ui8
// CHECK: dlc.sub
// CHECK: dlc.conv
// CHECK: dlc.cast {{.*}} to ui8
// CHECK-NEXT: dlc.yield
func.func @image(%x: tensor<1x4x5x5xui8>, %zero: tensor<ui8>, %w: tensor<2x4x3x3xi8>) -> tensor<1x2x5x5xui8> {
  %low = dlc.constant dense<0.0> : tensor<f32>
  %high = dlc.constant dense<255.0> : tensor<f32>
  %z = dlc.cast %zero to i32 : (tensor<ui8>) -> tensor<i32>
  %0 = dlc.cast %x to i32 : (tensor<1x4x5x5xui8>) -> tensor<1x4x5x5xi32>
  %1 = dlc.sub %0, %z : (tensor<1x4x5x5xi32>, tensor<i32>) -> tensor<1x4x5x5xi32>
  %2 = dlc.cast %w to i32 : (tensor<2x4x3x3xi8>) -> tensor<2x4x3x3xi32>
  %3 = dlc.conv %1, %2 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x5x5xi32>, tensor<2x4x3x3xi32>) -> tensor<1x2x5x5xi32>
  %4 = dlc.cast %3 to f32 : (tensor<1x2x5x5xi32>) -> tensor<1x2x5x5xf32>
  %5 = dlc.max %4, %low : (tensor<1x2x5x5xf32>, tensor<f32>) -> tensor<1x2x5x5xf32>
  %6 = dlc.min %5, %high : (tensor<1x2x5x5xf32>, tensor<f32>) -> tensor<1x2x5x5xf32>
  %7 = dlc.cast %6 to ui8 : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xui8>
  return %7 : tensor<1x2x5x5xui8>
}
