// RUN: dlc-opt %s --dlc-simplify --split-input-file | FileCheck %s
// RUN: dlc-opt %s --dlc-accuracy=accuracy=strict --dlc-simplify --split-input-file | FileCheck %s --check-prefix=STRICT

// Factors from 2^-64 to 2^64 are folded into the weights; a factor of 0 makes them 0.
// CHECK-LABEL: @folded
// CHECK-NOT: dlc.mul
// CHECK-NOT: dlc.batch_norm
// STRICT-LABEL: @folded
// STRICT: dlc.mul
// STRICT: dlc.batch_norm
func.func @folded(%x: tensor<1x1x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %w = dlc.constant dense<0.5> : tensor<2x1x1x1xf32>
  %s = dlc.constant dense<[[[1.0e-19]], [[0.0]]]> : tensor<2x1x1xf32>
  %scale = dlc.constant dense<4.0> : tensor<2xf32>
  %shift = dlc.constant dense<5.0> : tensor<2xf32>
  %mean = dlc.constant dense<3.0> : tensor<2xf32>
  %variance = dlc.constant dense<4.0> : tensor<2xf32>
  %y = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %z = dlc.mul %y, %s : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %v = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x6x6xf32>
  %n = dlc.batch_norm %v, %scale, %shift, %mean, %variance {eps = 0.0 : f64} : (tensor<1x2x6x6xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x6x6xf32>
  %c = dlc.slice %n start [0, 0, 1, 1] size [1, 2, 4, 4] stride [1, 1, 1, 1] : (tensor<1x2x6x6xf32>) -> tensor<1x2x4x4xf32>
  return %z, %c : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}

// -----

// A factor outside of these limits is not folded, even if only one channel has it.
// CHECK-LABEL: @far
// CHECK: dlc.mul
// CHECK: dlc.batch_norm
func.func @far(%x: tensor<1x1x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x2x2xf32>) {
  %w = dlc.constant dense<0.5> : tensor<2x1x1x1xf32>
  %s = dlc.constant dense<[[[1.0e-20]], [[1.0]]]> : tensor<2x1x1xf32>
  %k = dlc.constant dense<0.5> : tensor<2x1x3x3xf32>
  %scale = dlc.constant dense<[1.0, 1.0e20]> : tensor<2xf32>
  %zero = dlc.constant dense<0.0> : tensor<2xf32>
  %one = dlc.constant dense<1.0> : tensor<2xf32>
  %y = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %z = dlc.mul %y, %s : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %v = dlc.conv %x, %k {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x2x2xf32>
  %n = dlc.batch_norm %v, %scale, %zero, %zero, %one {eps = 0.0 : f64} : (tensor<1x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  return %z, %n : tensor<1x2x4x4xf32>, tensor<1x2x2x2xf32>
}

// -----

// A factor that would make weights subnormal is not folded, unless they are negligible compared with larger ones of their channel.
// CHECK-LABEL: @subnormal
// CHECK: dlc.mul
// CHECK-NOT: dlc.mul
func.func @subnormal(%x: tensor<1x2x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  %w = dlc.constant dense<[[[[1.0e-25]], [[1.0e-24]]]]> : tensor<1x2x1x1xf32>
  %v = dlc.constant dense<[[[[1.0e-25]], [[1.0]]]]> : tensor<1x2x1x1xf32>
  %s = dlc.constant dense<1.0e-15> : tensor<f32>
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x4x4xf32>
  %1 = dlc.mul %0, %s : (tensor<1x1x4x4xf32>, tensor<f32>) -> tensor<1x1x4x4xf32>
  %2 = dlc.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x4x4xf32>
  %3 = dlc.mul %2, %s : (tensor<1x1x4x4xf32>, tensor<f32>) -> tensor<1x1x4x4xf32>
  return %1, %3 : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
}

// -----

// A second addition is not folded, since this one rounds. A bias of that size is not scaled either.
// CHECK-LABEL: @bias
// CHECK: dlc.conv
// CHECK: dlc.sub
// CHECK: dlc.conv
// CHECK: dlc.mul
// STRICT-LABEL: @bias
// STRICT: dlc.sub
// STRICT: dlc.mul
func.func @bias(%x: tensor<1x1x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  %w = dlc.constant dense<1.0> : tensor<1x1x1x1xf32>
  %b = dlc.constant dense<12582912.0> : tensor<1xf32>
  %c = dlc.constant dense<12582912.0> : tensor<f32>
  %s = dlc.constant dense<3.0> : tensor<f32>
  %0 = dlc.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %1 = dlc.sub %0, %c : (tensor<1x1x4x4xf32>, tensor<f32>) -> tensor<1x1x4x4xf32>
  %n = dlc.neg %x : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %2 = dlc.conv %n, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %3 = dlc.mul %2, %s : (tensor<1x1x4x4xf32>, tensor<f32>) -> tensor<1x1x4x4xf32>
  return %1, %3 : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
}

// -----

// A batch norm without a convolution becomes a multiplication and an addition if its mean is not far from its values.
// CHECK-LABEL: @alone
// CHECK: dlc.batch_norm
// CHECK: dlc.mul
// CHECK: dlc.add
// STRICT-LABEL: @alone
// STRICT-COUNT-2: dlc.batch_norm
func.func @alone(%x: tensor<1x1x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  %one = dlc.constant dense<1.0> : tensor<1xf32>
  %far = dlc.constant dense<10000.0> : tensor<1xf32>
  %near = dlc.constant dense<1000.0> : tensor<1xf32>
  %y = dlc.batch_norm %x, %one, %one, %far, %one {eps = 0.0 : f64} : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %z = dlc.batch_norm %x, %one, %one, %near, %one {eps = 0.25 : f64} : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  return %y, %z : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
}
