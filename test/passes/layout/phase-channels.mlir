// On tensor cores, the phases of a strided convolution of few channels become channels of the image and the weights.
// RUN: dlc-opt %s --dlc-layout=costs=assumed --dlc-verify-layout --dlc-verify-placement --cse --split-input-file | FileCheck %s

!x = tensor<32x3x224x224xbf16, #dlc.on<cuda:0>>
!w = tensor<64x3x7x7xbf16, #dlc.on<cuda:0>>
!y = tensor<32x64x112x112xbf16, #dlc.on<cuda:0>>

// Four phases of three channels are twelve channels, padded to sixteen; the gradient reads the same image as the convolution.
// CHECK-LABEL: @strided
// CHECK-COUNT-1: dlc.pad constant %{{.*}} low [0, 0, 3, 3] high [0, 0, 3, 3]
// CHECK: dlc.transpose {{.*}} [0, 3, 5, 1, 2, 4] {{.*}} -> tensor<32x2x2x3x115x115xbf16, #dlc.on<cuda:0>>
// CHECK: %[[X:.*]] = dlc.reorder {{.*}} -> tensor<32x16x115x115xbf16, #dlc.on<cuda:0, acdb>>
// CHECK: dlc.pad constant {{.*}} -> tensor<64x3x8x8xbf16, #dlc.on<cuda:0>>
// CHECK: %[[W:.*]] = dlc.reorder {{.*}} -> tensor<64x16x4x4xbf16, #dlc.on<cuda:0, acdb>>
// CHECK: dlc.conv %[[X]], %[[W]] {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} {{.*}} -> tensor<32x64x112x112xbf16, #dlc.on<cuda:0, acdb>>
// CHECK-NOT: dlc.pad
// CHECK: dlc.conv_weight_grad %[[X]], {{.*}} -> tensor<64x16x4x4xbf16, #dlc.on<cuda:0, acdb>>
// CHECK: dlc.slice {{.*}} size [64, 12, 4, 4]
// CHECK: dlc.transpose {{.*}} [0, 3, 4, 1, 5, 2]
// CHECK: dlc.slice {{.*}} size [64, 3, 7, 7]
func.func @strided(%x: !x, %w: !w) -> !w {
  %y = dlc.conv %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 3, 3>, high = array<i64: 3, 3>, groups = 1 : i64} : (!x, !w) -> !y
  %d = dlc.relu %y : (!y) -> !y
  %dw = dlc.conv_weight_grad %x, %d {window = array<i64: 7, 7>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 3, 3>, high = array<i64: 3, 3>, groups = 1 : i64} : (!x, !y) -> !w
  return %dw : !w
}
