// Operations that compute the formula of an activation (runtime/epilogue/EpilogueOps.def) are one epilogue op, on a CPU and on a GPU.
// RUN: dlc-opt %s --dlc-place --dlc-fuse --split-input-file | FileCheck %s
// RUN: dlc-opt %s --dlc-place=device=cuda:0 --dlc-fuse --split-input-file | FileCheck %s

// CHECK-LABEL: @matmul
// CHECK: dlc.fusion
// CHECK: dlc.matmul
// CHECK-NEXT: dlc.add
// CHECK-NEXT: dlc.abs
// CHECK: dlc.add
// CHECK-NEXT: dlc.div
// CHECK-NEXT: dlc.yield
// CHECK-NOT: dlc.fusion
// CHECK: return
func.func @matmul(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>, %b: tensor<16xf32>) -> tensor<64x16xf32> {
  %one = dlc.constant dense<1.0> : tensor<f32>
  %0 = dlc.matmul %x, %w : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %1 = dlc.add %0, %b : (tensor<64x16xf32>, tensor<16xf32>) -> tensor<64x16xf32>
  %2 = dlc.abs %1 : (tensor<64x16xf32>) -> tensor<64x16xf32>
  %3 = dlc.add %2, %one : (tensor<64x16xf32>, tensor<f32>) -> tensor<64x16xf32>
  %4 = dlc.div %1, %3 : (tensor<64x16xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
  return %4 : tensor<64x16xf32>
}

// -----

// CHECK-LABEL: @conv
// CHECK: dlc.fusion
// CHECK: dlc.conv
// CHECK-NEXT: dlc.abs
// CHECK: dlc.add
// CHECK-NEXT: dlc.div
// CHECK-NEXT: dlc.yield
// CHECK-NOT: dlc.fusion
// CHECK: return
func.func @conv(%x: tensor<1x16x8x8xf32>, %w: tensor<16x16x1x1xf32>) -> tensor<1x16x8x8xf32> {
  %one = dlc.constant dense<1.0> : tensor<f32>
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x8x8xf32>
  %1 = dlc.abs %0 : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %2 = dlc.add %one, %1 : (tensor<f32>, tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %3 = dlc.div %0, %2 : (tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  return %3 : tensor<1x16x8x8xf32>
}

// -----

// Another divisor, or another reader of the sum, is not this formula.
// CHECK-LABEL: @others
// CHECK: dlc.matmul
// CHECK-NEXT: dlc.yield
func.func @others(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>) -> tensor<64x16xf32> {
  %two = dlc.constant dense<2.0> : tensor<f32>
  %0 = dlc.matmul %x, %w : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %1 = dlc.abs %0 : (tensor<64x16xf32>) -> tensor<64x16xf32>
  %2 = dlc.add %1, %two : (tensor<64x16xf32>, tensor<f32>) -> tensor<64x16xf32>
  %3 = dlc.div %0, %2 : (tensor<64x16xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
  return %3 : tensor<64x16xf32>
}
