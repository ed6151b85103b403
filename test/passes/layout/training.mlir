// RUN: dlc-opt %s --dlc-place --dlc-layout='threads=1 costs=assumed' --dlc-verify-layout --split-input-file | FileCheck %s

// Forward and both gradients have one layout; the weights and their state remain plain.
// CHECK-LABEL: @step
// CHECK: dlc.conv {{.*}} -> tensor<4x32x16x16xf32, #dlc.on<cpu, [[TAG:[aBbcd168]+]]>>
// CHECK: dlc.max_pool_positions {{.*}} -> (tensor<4x32x8x8xf32, #dlc.on<cpu, [[TAG]]>>, tensor<4x32x8x8xui8, #dlc.on<cpu, [[TAG]]>>)
// CHECK: dlc.broadcast {{.*}} -> tensor<4x32x8x8xf32, #dlc.on<cpu, [[TAG]]>>
// CHECK: dlc.max_pool_grad {{.*}} -> tensor<4x32x16x16xf32, #dlc.on<cpu, [[TAG]]>>
// CHECK-NOT: dlc.reorder
// CHECK: dlc.reduce {{.*}} : (tensor<4x32x16x16xf32, #dlc.on<cpu, [[TAG]]>>) -> tensor<32xf32, #dlc.on<cpu>>
// CHECK: dlc.conv_weight_grad {{.*}} -> tensor<32x16x3x3xf32, #dlc.on<cpu>>
// CHECK: dlc.conv_transpose {{.*}}tensor<32x16x3x3xf32, #dlc.on<cpu>>) -> tensor<4x16x16x16xf32, #dlc.on<cpu, [[TAG]]>>
func.func @step(%x: tensor<4x16x16x16xf32>, %w: tensor<32x16x3x3xf32>, %g: tensor<4x32x1x1xf32>) -> (tensor<32xf32>, tensor<32x16x3x3xf32>, tensor<4x16x16x16xf32>) {
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<4x16x16x16xf32>, tensor<32x16x3x3xf32>) -> tensor<4x32x16x16xf32>
  %y, %position = dlc.max_pool_positions %0 {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<4x32x16x16xf32>) -> (tensor<4x32x8x8xf32>, tensor<4x32x8x8xui8>)
  %b = dlc.broadcast %g : (tensor<4x32x1x1xf32>) -> tensor<4x32x8x8xf32>
  %m = dlc.mul %b, %y : (tensor<4x32x8x8xf32>, tensor<4x32x8x8xf32>) -> tensor<4x32x8x8xf32>
  %dy = dlc.max_pool_grad %m, %position {spatial = array<i64: 16, 16>, window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<4x32x8x8xf32>, tensor<4x32x8x8xui8>) -> tensor<4x32x16x16xf32>
  %db = dlc.reduce sum %dy axes [0, 2, 3] : (tensor<4x32x16x16xf32>) -> tensor<32xf32>
  %dw = dlc.conv_weight_grad %x, %dy {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<4x16x16x16xf32>, tensor<4x32x16x16xf32>) -> tensor<32x16x3x3xf32>
  %dx = dlc.conv_transpose %dy, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, extra = array<i64: 0, 0>, groups = 1 : i64} : (tensor<4x32x16x16xf32>, tensor<32x16x3x3xf32>) -> tensor<4x16x16x16xf32>
  return %db, %dw, %dx : tensor<32xf32>, tensor<32x16x3x3xf32>, tensor<4x16x16x16xf32>
}

// -----

// Batch norm of images and its gradient have the layout; statistics are plain. Layouts with partially filled blocks are not used.
// CHECK-LABEL: @norm
// CHECK: dlc.conv {{.*}} -> tensor<4x32x8x8xf32, #dlc.on<cpu, [[TAG:[aBbcd168]+]]>>
// CHECK: dlc.batch_norm_train {{.*}} -> (tensor<4x32x8x8xf32, #dlc.on<cpu, [[TAG]]>>, tensor<32xf32, #dlc.on<cpu>>, tensor<32xf32, #dlc.on<cpu>>)
// CHECK: dlc.batch_norm_grad {{.*}} -> (tensor<4x32x8x8xf32, #dlc.on<cpu, [[TAG]]>>, tensor<32xf32, #dlc.on<cpu>>, tensor<32xf32, #dlc.on<cpu>>)
func.func @norm(%x: tensor<4x16x8x8xf32>, %w: tensor<32x16x3x3xf32>, %s: tensor<32xf32>, %b: tensor<32xf32>) -> (tensor<4x32x8x8xf32>, tensor<32xf32>) {
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<4x16x8x8xf32>, tensor<32x16x3x3xf32>) -> tensor<4x32x8x8xf32>
  %y, %mean, %variance = dlc.batch_norm_train %0, %s, %b {eps = 1.0e-5 : f64} : (tensor<4x32x8x8xf32>, tensor<32xf32>, tensor<32xf32>) -> (tensor<4x32x8x8xf32>, tensor<32xf32>, tensor<32xf32>)
  %dx, %ds, %db = dlc.batch_norm_grad %0, %y, %s, %mean, %variance {eps = 1.0e-5 : f64} : (tensor<4x32x8x8xf32>, tensor<4x32x8x8xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) -> (tensor<4x32x8x8xf32>, tensor<32xf32>, tensor<32xf32>)
  return %dx, %ds : tensor<4x32x8x8xf32>, tensor<32xf32>
}

// -----

// No kernel reorders 64-bit integers: the positions are converted to a plain layout before the cast.
// CHECK-LABEL: @indices
// CHECK: dlc.max_pool_positions {{.*}} -> (tensor<4x32x8x8xf32, #dlc.on<cpu, [[TAG:[aBbcd168]+]]>>, tensor<4x32x8x8xui8, #dlc.on<cpu, [[TAG]]>>)
// CHECK: %[[PLAIN:.*]] = dlc.reorder {{.*}} -> tensor<4x32x8x8xui8, #dlc.on<cpu>>
// CHECK: dlc.cast %[[PLAIN]] {{.*}} -> tensor<4x32x8x8xi64, #dlc.on<cpu>>
func.func @indices(%x: tensor<4x16x16x16xf32>, %w: tensor<32x16x3x3xf32>, %v: tensor<32x32x3x3xf32>) -> (tensor<4x32x8x8xf32>, tensor<4x32x8x8xi64>) {
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<4x16x16x16xf32>, tensor<32x16x3x3xf32>) -> tensor<4x32x16x16xf32>
  %y, %position = dlc.max_pool_positions %0 {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<4x32x16x16xf32>) -> (tensor<4x32x8x8xf32>, tensor<4x32x8x8xui8>)
  %i = dlc.cast %position to i64 : (tensor<4x32x8x8xui8>) -> tensor<4x32x8x8xi64>
  %z = dlc.conv %y, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<4x32x8x8xf32>, tensor<32x32x3x3xf32>) -> tensor<4x32x8x8xf32>
  return %z, %i : tensor<4x32x8x8xf32>, tensor<4x32x8x8xi64>
}
