// RUN: dlc-opt %s --dlc-fuse --split-input-file | FileCheck %s
// RUN: dlc-opt %s --dlc-accuracy=accuracy=strict --dlc-fuse --split-input-file | FileCheck %s --check-prefix=STRICT

// A hard swish with its division by 6 is one epilogue op of a convolution. With strict accuracy its operations are a
// separate kernel.
// CHECK-LABEL: @hard_swish
// CHECK: dlc.conv
// CHECK: dlc.div
// CHECK-NEXT: dlc.yield
// CHECK-NOT: dlc.fusion
// STRICT-LABEL: @hard_swish
// STRICT: dlc.conv
// STRICT: dlc.fusion
// STRICT: dlc.div
func.func @hard_swish(%x: tensor<1x16x8x8xf32>, %w: tensor<16x16x1x1xf32>) -> tensor<1x16x8x8xf32> {
  %zero = dlc.constant dense<0.0> : tensor<f32>
  %three = dlc.constant dense<3.0> : tensor<f32>
  %six = dlc.constant dense<6.0> : tensor<f32>
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x8x8xf32>
  %1 = dlc.add %0, %three : (tensor<1x16x8x8xf32>, tensor<f32>) -> tensor<1x16x8x8xf32>
  %2 = dlc.max %1, %zero : (tensor<1x16x8x8xf32>, tensor<f32>) -> tensor<1x16x8x8xf32>
  %3 = dlc.min %2, %six : (tensor<1x16x8x8xf32>, tensor<f32>) -> tensor<1x16x8x8xf32>
  %4 = dlc.mul %0, %3 : (tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %5 = dlc.div %4, %six : (tensor<1x16x8x8xf32>, tensor<f32>) -> tensor<1x16x8x8xf32>
  return %5 : tensor<1x16x8x8xf32>
}

// -----

// A scale and a shift of a matmul are epilogue ops at every accuracy.
// CHECK-LABEL: @affine
// CHECK: dlc.matmul
// CHECK: dlc.mul
// CHECK: dlc.add
// CHECK-NEXT: dlc.yield
// CHECK-NOT: dlc.fusion
// STRICT-LABEL: @affine
// STRICT: dlc.matmul
// STRICT: dlc.mul
// STRICT: dlc.add
// STRICT-NEXT: dlc.yield
// STRICT-NOT: dlc.fusion
func.func @affine(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>) -> tensor<64x16xf32> {
  %a = dlc.constant dense<0.125> : tensor<f32>
  %b = dlc.constant dense<3.0> : tensor<f32>
  %0 = dlc.matmul %x, %w : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %1 = dlc.mul %0, %a : (tensor<64x16xf32>, tensor<f32>) -> tensor<64x16xf32>
  %2 = dlc.add %1, %b : (tensor<64x16xf32>, tensor<f32>) -> tensor<64x16xf32>
  return %2 : tensor<64x16xf32>
}
