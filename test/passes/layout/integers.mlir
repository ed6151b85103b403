// REQUIRES: vnni
// RUN: dlc-opt %s --dlc-place --dlc-layout='threads=1' --dlc-verify-layout | FileCheck %s

// A depthwise convolution of integers with a channel multiplier repeats the channels of its operand.
// CHECK-LABEL: @several
// CHECK: dlc.broadcast {{.*}}xui8
// CHECK: dlc.conv {{.*}}groups = 192 : i64
func.func @several(%x: tensor<1x96x56x56xui8>) -> tensor<1x192x56x56xi32> {
  %z = dlc.constant dense<120> : tensor<i32>
  %w = dlc.constant dense<3> : tensor<192x1x3x3xi8>
  %0 = dlc.conv %x, %w x_zero_point %z {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 96 : i64}
      : (tensor<1x96x56x56xui8>, tensor<192x1x3x3xi8>, tensor<i32>) -> tensor<1x192x56x56xi32>
  return %0 : tensor<1x192x56x56xi32>
}
