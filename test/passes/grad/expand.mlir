// Results of the grad pass: matmuls with transpose flags, one matmul for shared weights, sums over broadcast dimensions.
// RUN: dlc-opt %s --dlc-grad --dlc-simplify --split-input-file | FileCheck %s

// CHECK-LABEL: @linear
// CHECK-SAME: (%[[X:.*]]: tensor<8x16x32xf32>, %[[W:.*]]: tensor<64x32xf32>, %[[B:.*]]: tensor<64xf32>, %[[DY:.*]]: tensor<8x16x64xf32>)
// CHECK-NOT: dlc.transpose
// CHECK-DAG: %[[DX:.*]] = dlc.matmul %[[DY]], %[[W]] : (tensor<8x16x64xf32>, tensor<64x32xf32>) -> tensor<8x16x32xf32>
// CHECK-DAG: %[[ROWS:.*]] = dlc.reshape %[[X]] : (tensor<8x16x32xf32>) -> tensor<128x32xf32>
// CHECK-DAG: %[[DROWS:.*]] = dlc.reshape %[[DY]] : (tensor<8x16x64xf32>) -> tensor<128x64xf32>
// CHECK-DAG: %[[DW:.*]] = dlc.matmul %[[DROWS]], %[[ROWS]] transpose_a : (tensor<128x64xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
// CHECK-DAG: dlc.reduce sum %[[DY]] axes [0, 1] keepdims
// CHECK-NOT: dlc.gradient
func.func @linear(%x: tensor<8x16x32xf32>, %w: tensor<64x32xf32>, %b: tensor<64xf32>, %dy: tensor<8x16x64xf32>)
    -> (tensor<8x16x32xf32>, tensor<64x32xf32>, tensor<64xf32>) {
  %p = dlc.matmul %x, %w transpose_b : (tensor<8x16x32xf32>, tensor<64x32xf32>) -> tensor<8x16x64xf32>
  %y = dlc.add %p, %b : (tensor<8x16x64xf32>, tensor<64xf32>) -> tensor<8x16x64xf32>
  %d:3 = dlc.gradient(%y) seeds(%dy) in (%x, %w, %b)
    : (tensor<8x16x64xf32>, tensor<8x16x64xf32>, tensor<8x16x32xf32>, tensor<64x32xf32>, tensor<64xf32>)
    -> (tensor<8x16x32xf32>, tensor<64x32xf32>, tensor<64xf32>)
  return %d#0, %d#1, %d#2 : tensor<8x16x32xf32>, tensor<64x32xf32>, tensor<64xf32>
}

// -----

// Nothing is computed for x, whose gradient is not requested.
// CHECK-LABEL: @weights_only
// CHECK-COUNT-1: dlc.matmul
// CHECK-NOT: dlc.matmul
func.func @weights_only(%x: tensor<4x3xf32>, %w: tensor<3x2xf32>, %dy: tensor<4x2xf32>) -> tensor<3x2xf32> {
  %y = dlc.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  %d = dlc.gradient(%y) seeds(%dy) in (%w) : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %d : tensor<3x2xf32>
}

// -----

// CHECK-LABEL: @convolution
// CHECK-SAME: (%[[X:.*]]: tensor<1x3x9x8xf32>, %[[W:.*]]: tensor<4x3x3x3xf32>, %[[DY:.*]]: tensor<1x4x5x3xf32>)
// CHECK-DAG: dlc.conv_transpose %[[DY]], %[[W]] {{.*}}extra = array<i64: 0, 1>
// CHECK-DAG: dlc.conv_weight_grad %[[X]], %[[DY]] {{.*}}window = array<i64: 3, 3>
func.func @convolution(%x: tensor<1x3x9x8xf32>, %w: tensor<4x3x3x3xf32>, %dy: tensor<1x4x5x3xf32>)
    -> (tensor<1x3x9x8xf32>, tensor<4x3x3x3xf32>) {
  %y = dlc.conv %x, %w {strides = array<i64: 2, 3>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64}
    : (tensor<1x3x9x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x5x3xf32>
  %d:2 = dlc.gradient(%y) seeds(%dy) in (%x, %w) : (tensor<1x4x5x3xf32>, tensor<1x4x5x3xf32>, tensor<1x3x9x8xf32>, tensor<4x3x3x3xf32>)
    -> (tensor<1x3x9x8xf32>, tensor<4x3x3x3xf32>)
  return %d#0, %d#1 : tensor<1x3x9x8xf32>, tensor<4x3x3x3xf32>
}

// -----

// The forward pool saves the positions of its maxima.
// CHECK-LABEL: @max_pool
// CHECK: %[[Y:.*]], %[[P:.*]] = dlc.max_pool_positions
// CHECK: %[[DX:.*]] = dlc.max_pool_grad %{{.*}}, %[[P]]
// CHECK: return %[[Y]], %[[DX]]
func.func @max_pool(%x: tensor<1x2x4x4xf32>, %dy: tensor<1x2x2x2xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x4x4xf32>) {
  %y = dlc.max_pool %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>}
    : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %d = dlc.gradient(%y) seeds(%dy) in (%x) : (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  return %y, %d : tensor<1x2x2x2xf32>, tensor<1x2x4x4xf32>
}

// -----

// Statistics are computed once.
// CHECK-LABEL: @layer_norm
// CHECK-COUNT-1: dlc.rsqrt
// CHECK-NOT: dlc.rsqrt
// CHECK-NOT: dlc.layer_norm
func.func @layer_norm(%x: tensor<4x8xf32>, %s: tensor<8xf32>, %dy: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>) {
  %y = dlc.layer_norm %x scale %s {axis = 1 : i64, eps = 1.0e-5 : f64} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %d:2 = dlc.gradient(%y) seeds(%dy) in (%x, %s) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>)
  return %y, %d#0, %d#1 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>
}

// -----

// Gradients of adjacent slices are concatenated.
// CHECK-LABEL: @split
// CHECK-NOT: dlc.pad
// CHECK: dlc.concat 1
// CHECK-NOT: dlc.pad
func.func @split(%x: tensor<2x6xf32>, %dy: tensor<2x3xf32>) -> tensor<2x6xf32> {
  %a = dlc.slice %x start [0, 0] size [2, 3] stride [1, 1] : (tensor<2x6xf32>) -> tensor<2x3xf32>
  %b = dlc.slice %x start [0, 3] size [2, 3] stride [1, 1] : (tensor<2x6xf32>) -> tensor<2x3xf32>
  %y = dlc.mul %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %d = dlc.gradient(%y) seeds(%dy) in (%x) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
  return %d : tensor<2x6xf32>
}

// -----

// The loop saves only the state that its backward loop needs; the weights' gradient is one matmul after the loop.
// CHECK-LABEL: @rnn
// CHECK: dlc.loop
// CHECK: dlc.loop
// CHECK: }
// CHECK: dlc.matmul {{.*}} transpose_a : (tensor<10x4xf32>, tensor<10x3xf32>) -> tensor<4x3xf32>
func.func @rnn(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>, %b: tensor<1x8xf32>, %h: tensor<1x2x4xf32>, %dy: tensor<5x1x2x4xf32>) -> tensor<1x4x3xf32> {
  %y:2 = dlc.rnn %x, %w, %r, %b, %h {direction = #dlc<direction forward>} : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>, tensor<1x8xf32>, tensor<1x2x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  %d = dlc.gradient(%y#0) seeds(%dy) in (%w) : (tensor<5x1x2x4xf32>, tensor<5x1x2x4xf32>, tensor<1x4x3xf32>) -> tensor<1x4x3xf32>
  return %d : tensor<1x4x3xf32>
}

// -----

// Values on which y does not depend get zeros if that is allowed.
// CHECK-LABEL: @unused
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>, %[[U:.*]]: tensor<3xf32>)
// CHECK-DAG: dense<0.000000e+00>
// CHECK-DAG: dlc.cos %[[X]]
func.func @unused(%x: tensor<2xf32>, %u: tensor<3xf32>) -> (tensor<2xf32>, tensor<3xf32>) {
  %s = dlc.sin %x : (tensor<2xf32>) -> tensor<2xf32>
  %y = dlc.reduce sum %s axes [0] : (tensor<2xf32>) -> tensor<f32>
  %d:2 = dlc.gradient(%y) in (%x, %u) allow_unused : (tensor<f32>, tensor<2xf32>, tensor<3xf32>) -> (tensor<2xf32>, tensor<3xf32>)
  return %d#0, %d#1 : tensor<2xf32>, tensor<3xf32>
}

// -----

// A gradient of a gradient.
// CHECK-LABEL: @second
// CHECK-NOT: dlc.gradient
// CHECK: dlc.sin
func.func @second(%x: tensor<f32>) -> tensor<f32> {
  %y = dlc.sin %x : (tensor<f32>) -> tensor<f32>
  %d = dlc.gradient(%y) in (%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %dd = dlc.gradient(%d) in (%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %dd : tensor<f32>
}

// -----

// A gradient inside a loop, of the loop's own values: training steps.
// CHECK-LABEL: @descent
// CHECK: dlc.loop
// CHECK-NOT: dlc.gradient
func.func @descent(%w: tensor<4xf32>) -> tensor<4xf32> {
  %n = dlc.constant dense<3> : tensor<i64>
  %r = dlc.loop trip(%n : tensor<i64>) inits(%w : tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %v: tensor<4xf32>):
    %q = dlc.mul %v, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %y = dlc.reduce sum %q axes [0] : (tensor<4xf32>) -> tensor<f32>
    %d = dlc.gradient(%y) in (%v) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
    %s = dlc.sub %v, %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    dlc.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// The derivative of a root of squares is set to 0 where the root is 0, also if the squares are sliced.
// CHECK-LABEL: @sliced_norm
// CHECK: %[[ROOT:.*]] = dlc.sqrt
// CHECK: %[[ZERO:.*]] = dlc.compare eq %[[ROOT]],
// CHECK: dlc.select %[[ZERO]],
func.func @sliced_norm(%x: tensor<4xf32>, %dy: tensor<2xf32>) -> tensor<4xf32> {
  %squares = dlc.mul %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %part = dlc.slice %squares start [0] size [2] stride [1] : (tensor<4xf32>) -> tensor<2xf32>
  %y = dlc.sqrt %part : (tensor<2xf32>) -> tensor<2xf32>
  %dx = dlc.gradient(%y) seeds(%dy) in (%x) : (tensor<2xf32>, tensor<2xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %dx : tensor<4xf32>
}
