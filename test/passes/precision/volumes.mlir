// There is no fast integer code for three-dimensional depthwise convolutions, so that they are computed in f32.
// REQUIRES: vnni
// RUN: dlc compile %s --to precision --threads 1 | FileCheck %s

// CHECK-LABEL: @main
// CHECK-NOT: dlc.conv {{.*}}xi32>
// CHECK: dlc.conv {{.*}} -> tensor<1x16x6x10x10xf32>
func.func @main(%x: tensor<1x16x6x10x10xui8>) -> tensor<1x16x6x10x10xi32> {
  %w = dlc.constant dense<3> : tensor<16x1x3x3x3xi32>
  %0 = dlc.cast %x to i32 : (tensor<1x16x6x10x10xui8>) -> tensor<1x16x6x10x10xi32>
  %1 = dlc.conv %0, %w {strides = array<i64: 1, 1, 1>, dilations = array<i64: 1, 1, 1>, low = array<i64: 1, 1, 1>, high = array<i64: 1, 1, 1>, groups = 16 : i64} : (tensor<1x16x6x10x10xi32>, tensor<16x1x3x3x3xi32>) -> tensor<1x16x6x10x10xi32>
  return %1 : tensor<1x16x6x10x10xi32>
}
