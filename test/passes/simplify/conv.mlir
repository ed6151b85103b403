// RUN: dlc-opt %s --dlc-simplify --split-input-file | FileCheck %s

// Batch norm is folded into weights and bias: w * 2, bias (1 - 3) * 2 + 5.
// CHECK-LABEL: @batch_norm
// CHECK-DAG: %[[W:.*]] = dlc.constant dense<2.000000e+00> : tensor<2x1x1x1xf32>
// CHECK-DAG: %[[B:.*]] = dlc.constant dense<1.000000e+00> : tensor<2xf32>
// CHECK: dlc.conv %arg0, %[[W]], %[[B]]
// CHECK-NOT: dlc.batch_norm
func.func @batch_norm(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = dlc.constant dense<1.0> : tensor<2x1x1x1xf32>
  %b = dlc.constant dense<1.0> : tensor<2xf32>
  %scale = dlc.constant dense<4.0> : tensor<2xf32>
  %shift = dlc.constant dense<5.0> : tensor<2xf32>
  %mean = dlc.constant dense<3.0> : tensor<2xf32>
  %variance = dlc.constant dense<4.0> : tensor<2xf32>
  %y = dlc.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %z = dlc.batch_norm %y, %scale, %shift, %mean, %variance {eps = 0.0 : f64} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %z : tensor<1x2x4x4xf32>
}

// -----

// Otherwise it becomes a multiplication and an addition per channel.
// CHECK-LABEL: @alone
// CHECK-DAG: %[[S:.*]] = dlc.constant dense<{{.*}}2.000000e+00]], {{.*}}1.000000e+00]]]> : tensor<2x1x1xf32>
// CHECK-DAG: %[[T:.*]] = dlc.constant dense<{{.*}}-1.000000e+00]], {{.*}}3.000000e+00]]]> : tensor<2x1x1xf32>
// CHECK: dlc.mul %arg0, %[[S]]
// CHECK: dlc.add %{{.*}}, %[[T]]
func.func @alone(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %scale = dlc.constant dense<[4.0, 2.0]> : tensor<2xf32>
  %shift = dlc.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %mean = dlc.constant dense<3.0> : tensor<2xf32>
  %variance = dlc.constant dense<4.0> : tensor<2xf32>
  %z = dlc.batch_norm %x, %scale, %shift, %mean, %variance {eps = 0.0 : f64} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %z : tensor<1x2x4x4xf32>
}

// -----

// An addition per channel becomes the bias, a multiplication is folded into the weights.
// CHECK-LABEL: @per_channel
// CHECK-DAG: %[[W:.*]] = dlc.constant dense<{{\[\[\[\[}}3.000000e+00]]], {{\[\[\[}}4.000000e+00]]]]> : tensor<2x1x1x1xf32>
// CHECK-DAG: %[[B:.*]] = dlc.constant dense<[3.000000e+00, 8.000000e+00]> : tensor<2xf32>
// CHECK: %[[Y:.*]] = dlc.conv %arg0, %[[W]], %[[B]]
// CHECK-NEXT: return %[[Y]]
func.func @per_channel(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = dlc.constant dense<1.0> : tensor<2x1x1x1xf32>
  %t = dlc.constant dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>
  %s = dlc.constant dense<[[[[3.0]], [[4.0]]]]> : tensor<1x2x1x1xf32>
  %y = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %z = dlc.add %y, %t : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %u = dlc.mul %z, %s : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %u : tensor<1x2x4x4xf32>
}

// -----

// A convolution with other readers is not changed.
// CHECK-LABEL: @shared
// CHECK: dlc.conv
// CHECK: dlc.mul
func.func @shared(%x: tensor<1x1x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %w = dlc.constant dense<1.0> : tensor<2x1x1x1xf32>
  %s = dlc.constant dense<[[[[3.0]], [[4.0]]]]> : tensor<1x2x1x1xf32>
  %y = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %u = dlc.mul %y, %s : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %y, %u : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}

// -----

// CHECK-LABEL: @pad
// CHECK: dlc.conv %arg0, %arg1 {{.*}}high = array<i64: 4, 5>{{.*}}low = array<i64: 3, 2>
// CHECK-NOT: dlc.pad
func.func @pad(%x: tensor<1x1x4x4xf32>, %w: tensor<2x1x1x1xf32>) -> tensor<1x2x11x11xf32> {
  %zero = dlc.constant dense<0.0> : tensor<f32>
  %p = dlc.pad constant %x, %zero low [0, 0, 3, 1] high [0, 0, 4, 5] : (tensor<1x1x4x4xf32>, tensor<f32>) -> tensor<1x1x11x10xf32>
  %y = dlc.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 1>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x1x11x10xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x11x11xf32>
  return %y : tensor<1x2x11x11xf32>
}

// -----

// Padding with -inf never is the maximum; padding with 0 may be.
// CHECK-LABEL: @pool
// CHECK: dlc.max_pool %arg0 {{.*}}high = array<i64: 1, 1>
// CHECK: dlc.pad
func.func @pool(%x: tensor<1x1x4x4xf32>) -> (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) {
  %inf = dlc.constant dense<0xFF800000> : tensor<f32>
  %zero = dlc.constant dense<0.0> : tensor<f32>
  %p = dlc.pad constant %x, %inf low [0, 0, 0, 0] high [0, 0, 1, 1] : (tensor<1x1x4x4xf32>, tensor<f32>) -> tensor<1x1x5x5xf32>
  %y = dlc.max_pool %p {window = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<1x1x5x5xf32>) -> tensor<1x1x2x2xf32>
  %q = dlc.pad constant %x, %zero low [0, 0, 0, 0] high [0, 0, 1, 1] : (tensor<1x1x4x4xf32>, tensor<f32>) -> tensor<1x1x5x5xf32>
  %z = dlc.max_pool %q {window = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<1x1x5x5xf32>) -> tensor<1x1x2x2xf32>
  return %y, %z : tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>
}

// -----

// A window that is larger than the image is reduced to the taps that reach the image: here one.
// CHECK-LABEL: @padded_taps
// CHECK: %[[W:.*]] = dlc.slice %arg1 start [0, 0, 1, 1] size [2, 1, 1, 1] stride [1, 1, 1, 1]
// CHECK: dlc.conv %arg0, %[[W]] {{.*}}dilations = array<i64: 1, 1>{{.*}}high = array<i64: 0, 0>{{.*}}low = array<i64: 0, 0>
func.func @padded_taps(%x: tensor<1x1x14x14xf32>, %w: tensor<2x1x3x3xf32>) -> tensor<1x2x14x14xf32> {
  %y = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 24, 14>, low = array<i64: 24, 14>, high = array<i64: 24, 14>, groups = 1 : i64} : (tensor<1x1x14x14xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x14x14xf32>
  return %y : tensor<1x2x14x14xf32>
}

// -----

// A tap that reaches the image for any result remains; the window is reduced only on the other side.
// CHECK-LABEL: @one_side
// CHECK: dlc.slice %arg1 start [0, 0, 1, 0] size [1, 1, 2, 3]
// CHECK: dlc.conv {{.*}}dilations = array<i64: 3, 3>{{.*}}high = array<i64: 0, 3>{{.*}}low = array<i64: 1, 3>
func.func @one_side(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x3x3xf32>) -> tensor<1x1x2x4xf32> {
  %y = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 3, 3>, low = array<i64: 4, 3>, high = array<i64: 0, 3>, groups = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x2x4xf32>
  return %y : tensor<1x1x2x4xf32>
}
