// On a GPU, images of 16 bits or tf32 are channels-last, and so are weights with windows.
// RUN: dlc-opt %s --dlc-layout=costs=assumed --dlc-verify-layout --dlc-verify-placement --split-input-file | FileCheck %s

!x = tensor<32x8x64x64xbf16, #dlc.on<cuda:0>>
!w0 = tensor<64x8x7x7xbf16, #dlc.on<cuda:0>>
!y0 = tensor<32x64x32x32xbf16, #dlc.on<cuda:0>>
!u0 = tensor<32x64x16x16xui8, #dlc.on<cuda:0>>
!y = tensor<32x64x16x16xbf16, #dlc.on<cuda:0>>
!w = tensor<64x64x3x3xbf16, #dlc.on<cuda:0>>
!v = tensor<64x64x1x1xbf16, #dlc.on<cuda:0>>
!f = tensor<64x64x3x3xf32, #dlc.on<cuda:0>>
!c = tensor<64xbf16, #dlc.on<cuda:0>>
!m = tensor<32x64xbf16, #dlc.on<cuda:0>>

// Pools, batch norms, residuals and gradients have the same layout; reorders remain for the plain input image, for each of the weights once for both
// directions, and for their gradients, which the update reads. Weights of 1x1 windows have the same memory in both layouts.
// CHECK-LABEL: @step
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<32x8x64x64xbf16
// CHECK-SAME: %[[W0:[a-z0-9]+]]: tensor<64x8x7x7xbf16
// CHECK-DAG: %[[LX:.*]] = dlc.reorder %[[X]] : {{.*}} -> tensor<32x8x64x64xbf16, #dlc.on<cuda:0, acdb>>
// CHECK-DAG: %[[LW0:.*]] = dlc.reorder %[[W0]] : {{.*}} -> tensor<64x8x7x7xbf16, #dlc.on<cuda:0, acdb>>
// CHECK-DAG: %[[CAST:.*]] = dlc.cast {{.*}} -> tensor<64x64x3x3xbf16, #dlc.on<cuda:0>>
// CHECK-DAG: %[[LW:.*]] = dlc.reorder %[[CAST]] : {{.*}} -> tensor<64x64x3x3xbf16, #dlc.on<cuda:0, acdb>>
// CHECK: dlc.conv %[[LX]], %[[LW0]] {{.*}} -> tensor<32x64x32x32xbf16, #dlc.on<cuda:0, acdb>>
// CHECK-NOT: dlc.reorder
// CHECK: dlc.max_pool_positions {{.*}} -> (tensor<32x64x16x16xbf16, #dlc.on<cuda:0, acdb>>, tensor<32x64x16x16xui8, #dlc.on<cuda:0, acdb>>)
// CHECK: dlc.conv %{{.*}}, %[[LW]] {{.*}} -> tensor<32x64x16x16xbf16, #dlc.on<cuda:0, acdb>>
// CHECK: dlc.batch_norm_train {{.*}} -> (tensor<32x64x16x16xbf16, #dlc.on<cuda:0, acdb>>, tensor<64xbf16, #dlc.on<cuda:0>>
// CHECK: dlc.relu {{.*}} -> tensor<32x64x16x16xbf16, #dlc.on<cuda:0, acdb>>
// CHECK: dlc.conv {{.*}}tensor<64x64x1x1xbf16, #dlc.on<cuda:0>>) -> tensor<32x64x16x16xbf16, #dlc.on<cuda:0, acdb>>
// CHECK: dlc.add {{.*}} -> tensor<32x64x16x16xbf16, #dlc.on<cuda:0, acdb>>
// CHECK: dlc.reduce mean {{.*}}acdb>>) -> tensor<32x64xbf16, #dlc.on<cuda:0>>
// CHECK: dlc.conv_weight_grad {{.*}} -> tensor<64x64x1x1xbf16, #dlc.on<cuda:0>>
// CHECK: dlc.conv_transpose {{.*}} -> tensor<32x64x16x16xbf16, #dlc.on<cuda:0, acdb>>
// CHECK: dlc.batch_norm_grad {{.*}} -> (tensor<32x64x16x16xbf16, #dlc.on<cuda:0, acdb>>
// CHECK: %[[DW:.*]] = dlc.conv_weight_grad {{.*}} -> tensor<64x64x3x3xbf16, #dlc.on<cuda:0, acdb>>
// CHECK-NEXT: %[[PDW:.*]] = dlc.reorder %[[DW]] : {{.*}} -> tensor<64x64x3x3xbf16, #dlc.on<cuda:0>>
// CHECK: dlc.conv_transpose %{{.*}}, %[[LW]] {{.*}} -> tensor<32x64x16x16xbf16, #dlc.on<cuda:0, acdb>>
// CHECK: dlc.max_pool_grad {{.*}} -> tensor<32x64x32x32xbf16, #dlc.on<cuda:0, acdb>>
// CHECK: %[[DW0:.*]] = dlc.conv_weight_grad {{.*}} -> tensor<64x8x7x7xbf16, #dlc.on<cuda:0, acdb>>
// CHECK-NEXT: dlc.reorder %[[DW0]]
// CHECK: dlc.cast %[[PDW]]
// CHECK-NOT: dlc.reorder
func.func @step(%x: !x, %w0: !w0, %master: !f, %v: !v, %s: !c, %g: !y) -> (!m, !v, !f, !w0) {
  %w = dlc.cast %master to bf16 : (!f) -> !w
  %0 = dlc.conv %x, %w0 {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 3, 3>, high = array<i64: 3, 3>, groups = 1 : i64} : (!x, !w0) -> !y0
  %1, %at = dlc.max_pool_positions %0 {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (!y0) -> (!y, !u0)
  %2 = dlc.conv %1, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (!y, !w) -> !y
  %3, %mean, %variance = dlc.batch_norm_train %2, %s, %s {eps = 1.0e-5 : f64} : (!y, !c, !c) -> (!y, !c, !c)
  %4 = dlc.relu %3 : (!y) -> !y
  %5 = dlc.conv %4, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (!y, !v) -> !y
  %6 = dlc.add %5, %1 : (!y, !y) -> !y
  %7 = dlc.reduce mean %6 axes [2, 3] : (!y) -> !m
  %d6 = dlc.mul %6, %g : (!y, !y) -> !y
  %dv = dlc.conv_weight_grad %4, %d6 {window = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (!y, !y) -> !v
  %d4 = dlc.conv_transpose %d6, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, extra = array<i64: 0, 0>, groups = 1 : i64} : (!y, !v) -> !y
  %d2, %ds, %db = dlc.batch_norm_grad %2, %d4, %s, %mean, %variance {eps = 1.0e-5 : f64} : (!y, !y, !c, !c, !c) -> (!y, !c, !c)
  %dw = dlc.conv_weight_grad %1, %d2 {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (!y, !y) -> !w
  %d1 = dlc.conv_transpose %d2, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, extra = array<i64: 0, 0>, groups = 1 : i64} : (!y, !w) -> !y
  %d0 = dlc.max_pool_grad %d1, %at {spatial = array<i64: 32, 32>, window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (!y, !u0) -> !y0
  %dw0 = dlc.conv_weight_grad %x, %d0 {window = array<i64: 7, 7>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 3, 3>, high = array<i64: 3, 3>, groups = 1 : i64} : (!x, !y0) -> !w0
  %wide = dlc.cast %dw to f32 : (!w) -> !f
  %new = dlc.sub %master, %wide : (!f, !f) -> !f
  return %7, %dv, %new, %dw0 : !m, !v, !f, !w0
}

// -----

!x = tensor<32x64x16x16xf32, #dlc.on<cuda:0>>
!w = tensor<64x64x3x3xf32, #dlc.on<cuda:0>>

// Only tensor cores require this layout: f32 remains plain unless tf32 is allowed.
// CHECK-LABEL: @singles
// CHECK-NOT: dlc.reorder
// CHECK: dlc.conv {{.*}} -> tensor<32x64x16x16xf32, #dlc.on<cuda:0>>
func.func @singles(%x: !x, %w: !w) -> !x {
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (!x, !w) -> !x
  return %0 : !x
}

// CHECK-LABEL: @rounded
// CHECK: dlc.conv {{.*}} -> tensor<32x64x16x16xf32, #dlc.on<cuda:0, acdb>>
// CHECK: dlc.reorder {{.*}} -> tensor<32x64x16x16xf32, #dlc.on<cuda:0>>
func.func @rounded(%x: !x, %w: !w) -> !x {
  %0 = dlc.conv %x, %w {dlc.math = "tf32", strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (!x, !w) -> !x
  return %0 : !x
}

// -----

!x = tensor<32x64x256xf16, #dlc.on<cuda:0>>
!w = tensor<64x64x3xf16, #dlc.on<cuda:0>>
!v = tensor<8x64x8x8x8xf16, #dlc.on<cuda:0>>
!u = tensor<64x64x3x3x3xf16, #dlc.on<cuda:0>>

// CHECK-LABEL: @sequences_and_volumes
// CHECK: dlc.conv {{.*}} -> tensor<32x64x256xf16, #dlc.on<cuda:0, acb>>
// CHECK: dlc.conv {{.*}} -> tensor<8x64x8x8x8xf16, #dlc.on<cuda:0, acdeb>>
func.func @sequences_and_volumes(%x: !x, %w: !w, %v: !v, %u: !u) -> (!x, !v) {
  %0 = dlc.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 1>, high = array<i64: 1>, groups = 1 : i64} : (!x, !w) -> !x
  %1 = dlc.conv %v, %u {strides = array<i64: 1, 1, 1>, dilations = array<i64: 1, 1, 1>, low = array<i64: 1, 1, 1>, high = array<i64: 1, 1, 1>, groups = 1 : i64} : (!v, !u) -> !v
  return %0, %1 : !x, !v
}

// -----

!a = tensor<32x64x16x16xbf16, #dlc.on<cuda:0>>
!b = tensor<32x64x16x16xbf16, #dlc.on<cuda:1>>
!w = tensor<64x64x3x3xbf16, #dlc.on<cuda:0>>
!v = tensor<64x64x1x1xbf16, #dlc.on<cuda:1>>
!c = tensor<32x64x16x16xbf16, #dlc.on<cpu>>

// Between GPUs an image keeps its layout; it is plain in a transfer to a CPU.
// CHECK-LABEL: @transfers
// CHECK: dlc.conv {{.*}} -> tensor<32x64x16x16xbf16, #dlc.on<cuda:0, acdb>>
// CHECK-NEXT: dlc.transfer {{.*}} -> tensor<32x64x16x16xbf16, #dlc.on<cuda:1, acdb>>
// CHECK-NOT: dlc.reorder
// CHECK: dlc.conv {{.*}} -> tensor<32x64x16x16xbf16, #dlc.on<cuda:1, acdb>>
// CHECK-NEXT: dlc.reorder
// CHECK-NEXT: dlc.transfer {{.*}}#dlc.on<cuda:1>>) -> tensor<32x64x16x16xbf16, #dlc.on<cpu>>
func.func @transfers(%x: !a, %w: !w, %v: !v) -> !c {
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (!a, !w) -> !a
  %1 = dlc.transfer %0 : (!a) -> !b
  %2 = dlc.conv %1, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (!b, !v) -> !b
  %3 = dlc.transfer %2 : (!b) -> !c
  return %3 : !c
}
