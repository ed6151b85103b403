// Transposed convolutions of integers, with strides or without, have no other way than that of one convolution.
// REQUIRES: vnni
// RUN: dlc-opt %s --dlc-place --dlc-layout='threads=1' --dlc-verify-layout | FileCheck %s

// CHECK-LABEL: @integers
// CHECK-NOT: dlc.conv_transpose
// CHECK: dlc.conv {{.*}} -> tensor<1x64x16x16xi32
// CHECK: dlc.transposed_view
// CHECK: dlc.conv {{.*}} -> tensor<1x16x18x18xi32
func.func @integers(%x: tensor<1x32x16x16xui8>) -> (tensor<1x16x32x32xi32>, tensor<1x16x18x18xi32>) {
  %w = dlc.constant dense<3> : tensor<32x16x2x2xi32>
  %v = dlc.constant dense<3> : tensor<32x16x3x3xi32>
  %0 = dlc.cast %x to i32 : (tensor<1x32x16x16xui8>) -> tensor<1x32x16x16xi32>
  %1 = dlc.conv_transpose %0, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, extra = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x32x16x16xi32>, tensor<32x16x2x2xi32>) -> tensor<1x16x32x32xi32>
  %2 = dlc.conv_transpose %0, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, extra = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x32x16x16xi32>, tensor<32x16x3x3xi32>) -> tensor<1x16x18x18xi32>
  return %1, %2 : tensor<1x16x32x32xi32>, tensor<1x16x18x18xi32>
}

// Several results for a channel: one for each of the channel's copies, which are of 8 bits.
// CHECK-LABEL: @several
// CHECK: dlc.broadcast {{.*}}xui8
// CHECK: dlc.conv {{.*}}groups = 192 : i64
func.func @several(%x: tensor<1x96x56x56xui8>) -> tensor<1x192x56x56xi32> {
  %z = dlc.constant dense<120> : tensor<i32>
  %w = dlc.constant dense<3> : tensor<192x1x3x3xi32>
  %0 = dlc.cast %x to i32 : (tensor<1x96x56x56xui8>) -> tensor<1x96x56x56xi32>
  %1 = dlc.sub %0, %z : (tensor<1x96x56x56xi32>, tensor<i32>) -> tensor<1x96x56x56xi32>
  %2 = dlc.conv %1, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 96 : i64} : (tensor<1x96x56x56xi32>, tensor<192x1x3x3xi32>) -> tensor<1x192x56x56xi32>
  return %2 : tensor<1x192x56x56xi32>
}
