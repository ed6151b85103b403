// RUN: dlc-opt %s --dlc-fuse | FileCheck %s

// Reorders to and from layouts without blocks are transpositions of the data in memory, for which
// generated code is a candidate.

// CHECK-LABEL: @to_channels_last
// CHECK: %[[M:.*]] = dlc.fusion(%[[X:.*]] = %arg0)
// CHECK: dlc.transpose %[[X]] [0, 2, 3, 1] {{.*}} -> tensor<2x5x7x3xf32, #dlc.on<cpu>>
// CHECK: %[[V:.*]] = dlc.transposed_view %[[M]] [0, 3, 1, 2]
// CHECK: return %[[V]]
func.func @to_channels_last(%x: tensor<2x3x5x7xf32, #dlc.on<cpu>>) -> tensor<2x3x5x7xf32, #dlc.on<cpu, acdb>> {
  %y = dlc.reorder %x : (tensor<2x3x5x7xf32, #dlc.on<cpu>>) -> tensor<2x3x5x7xf32, #dlc.on<cpu, acdb>>
  return %y : tensor<2x3x5x7xf32, #dlc.on<cpu, acdb>>
}

// CHECK-LABEL: @from_channels_last
// CHECK: %[[V:.*]] = dlc.transposed_view %arg0 [0, 2, 3, 1]
// CHECK: %[[M:.*]] = dlc.fusion(%[[X:.*]] = %[[V]])
// CHECK: dlc.transpose %[[X]] [0, 3, 1, 2] {{.*}} -> tensor<2x3x5x7xf32, #dlc.on<cpu>>
// CHECK: return %[[M]]
func.func @from_channels_last(%x: tensor<2x3x5x7xf32, #dlc.on<cpu, acdb>>) -> tensor<2x3x5x7xf32, #dlc.on<cpu>> {
  %y = dlc.reorder %x : (tensor<2x3x5x7xf32, #dlc.on<cpu, acdb>>) -> tensor<2x3x5x7xf32, #dlc.on<cpu>>
  return %y : tensor<2x3x5x7xf32, #dlc.on<cpu>>
}

// Reorders of blocked layouts remain for the library.

// CHECK-LABEL: @to_blocks
// CHECK: dlc.reorder %arg0
func.func @to_blocks(%x: tensor<2x16x5x7xf32, #dlc.on<cpu>>) -> tensor<2x16x5x7xf32, #dlc.on<cpu, aBcd16b>> {
  %y = dlc.reorder %x : (tensor<2x16x5x7xf32, #dlc.on<cpu>>) -> tensor<2x16x5x7xf32, #dlc.on<cpu, aBcd16b>>
  return %y : tensor<2x16x5x7xf32, #dlc.on<cpu, aBcd16b>>
}

// On a GPU no library is a candidate: one kernel casts and transposes weights, another reads their
// gradient in its layout.

// CHECK-LABEL: @weights_on_gpu
// CHECK: dlc.fusion
// CHECK-NEXT: dlc.cast
// CHECK-NEXT: dlc.transpose {{.*}} [0, 2, 3, 1] {{.*}} -> tensor<64x3x3x64xbf16, #dlc.on<cuda:0>>
// CHECK-NEXT: dlc.yield
// CHECK: dlc.conv_weight_grad
// CHECK-NEXT: dlc.yield
// CHECK: dlc.transposed_view
// CHECK: dlc.fusion
// CHECK-NEXT: dlc.transpose {{.*}} [0, 3, 1, 2] {{.*}} -> tensor<64x64x3x3xbf16, #dlc.on<cuda:0>>
// CHECK-NEXT: dlc.cast
// CHECK-NEXT: dlc.sub
// CHECK-NEXT: dlc.yield
// CHECK-NOT: dlc.transpose
func.func @weights_on_gpu(%x: tensor<2x64x8x8xbf16, #dlc.on<cuda:0, acdb>>, %m: tensor<64x64x3x3xf32, #dlc.on<cuda:0>>) -> (tensor<2x64x8x8xbf16, #dlc.on<cuda:0, acdb>>, tensor<64x64x3x3xf32, #dlc.on<cuda:0>>) {
  %w = dlc.cast %m to bf16 : (tensor<64x64x3x3xf32, #dlc.on<cuda:0>>) -> tensor<64x64x3x3xbf16, #dlc.on<cuda:0>>
  %l = dlc.reorder %w : (tensor<64x64x3x3xbf16, #dlc.on<cuda:0>>) -> tensor<64x64x3x3xbf16, #dlc.on<cuda:0, acdb>>
  %y = dlc.conv %x, %l {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x64x8x8xbf16, #dlc.on<cuda:0, acdb>>, tensor<64x64x3x3xbf16, #dlc.on<cuda:0, acdb>>) -> tensor<2x64x8x8xbf16, #dlc.on<cuda:0, acdb>>
  %d = dlc.conv_weight_grad %x, %y {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x64x8x8xbf16, #dlc.on<cuda:0, acdb>>, tensor<2x64x8x8xbf16, #dlc.on<cuda:0, acdb>>) -> tensor<64x64x3x3xbf16, #dlc.on<cuda:0, acdb>>
  %p = dlc.reorder %d : (tensor<64x64x3x3xbf16, #dlc.on<cuda:0, acdb>>) -> tensor<64x64x3x3xbf16, #dlc.on<cuda:0>>
  %f = dlc.cast %p to f32 : (tensor<64x64x3x3xbf16, #dlc.on<cuda:0>>) -> tensor<64x64x3x3xf32, #dlc.on<cuda:0>>
  %n = dlc.sub %m, %f : (tensor<64x64x3x3xf32, #dlc.on<cuda:0>>, tensor<64x64x3x3xf32, #dlc.on<cuda:0>>) -> tensor<64x64x3x3xf32, #dlc.on<cuda:0>>
  return %y, %n : tensor<2x64x8x8xbf16, #dlc.on<cuda:0, acdb>>, tensor<64x64x3x3xf32, #dlc.on<cuda:0>>
}

// A reorder that moves no element is a view, and a reordered constant is a constant.

// CHECK-LABEL: @pixels
// CHECK: %[[V:.*]] = dlc.transposed_view %arg0 [0, 1, 2, 3] {{.*}} -> tensor<2x3x1x1xf32, #dlc.on<cpu, acdb>>
// CHECK-NEXT: return %[[V]]
func.func @pixels(%x: tensor<2x3x1x1xf32, #dlc.on<cpu>>) -> tensor<2x3x1x1xf32, #dlc.on<cpu, acdb>> {
  %y = dlc.reorder %x : (tensor<2x3x1x1xf32, #dlc.on<cpu>>) -> tensor<2x3x1x1xf32, #dlc.on<cpu, acdb>>
  return %y : tensor<2x3x1x1xf32, #dlc.on<cpu, acdb>>
}

// CHECK-LABEL: @constant_on_gpu
// CHECK: %[[C:.*]] = dlc.constant dense<{{.*}}[1.000000e+00, 3.000000e+00], [2.000000e+00, 4.000000e+00]{{.*}}> : tensor<1x1x2x2xf32, #dlc.on<cuda:0>>
// CHECK-NEXT: dlc.transposed_view %[[C]] [0, 3, 1, 2] {{.*}} -> tensor<1x2x1x2xf32, #dlc.on<cuda:0, acdb>>
func.func @constant_on_gpu() -> tensor<1x2x1x2xf32, #dlc.on<cuda:0, acdb>> {
  %c = dlc.constant dense<[[[[1.0, 2.0]], [[3.0, 4.0]]]]> : tensor<1x2x1x2xf32, #dlc.on<cuda:0>>
  %y = dlc.reorder %c : (tensor<1x2x1x2xf32, #dlc.on<cuda:0>>) -> tensor<1x2x1x2xf32, #dlc.on<cuda:0, acdb>>
  return %y : tensor<1x2x1x2xf32, #dlc.on<cuda:0, acdb>>
}
