// If Winograd is requested, unsupported convolutions list the reason and use other kernels.
// RUN: dlc compile %s --cache none --kernels winograd --to select --print-after select 2>&1 | FileCheck %s
// REQUIRES: dlc

// CHECK: dlc.refused = "{{[^"]*}}winograd: required: strides, dilations and groups of 1
// CHECK: dlc.refused = "{{[^"]*}}winograd: required: strides, dilations and groups of 1
// CHECK: dlc.refused = "{{[^"]*}}winograd: required: strides, dilations and groups of 1
// CHECK: dlc.refused = "{{[^"]*}}winograd: required: a window of 3x3 or 5x5; found: 7x7
// CHECK: dlc.refused = "{{[^"]*}}winograd: required: a window of 3x3 or 5x5; found: 3x5
// CHECK: dlc.refused = "{{[^"]*}}winograd: the operation is not a single convolution
// CHECK: dlc.refused = "{{[^"]*}}winograd: {{required: input and result in blocks of 16 or 8 channels|required: a multiple of}}

func.func @main(%x0: tensor<1x32x15x15xf32>, %w0: tensor<32x32x3x3xf32>, %x1: tensor<1x32x15x15xf32>, %w1: tensor<32x32x3x3xf32>, %x2: tensor<1x32x15x15xf32>, %w2: tensor<32x16x3x3xf32>, %x3: tensor<1x32x15x15xf32>, %w3: tensor<32x32x7x7xf32>, %x4: tensor<1x32x15x15xf32>, %w4: tensor<32x32x3x5xf32>, %x5: tensor<1x32x15x15xf64>, %w5: tensor<32x32x3x3xf64>, %x6: tensor<1x5x15x15xf32>, %w6: tensor<7x5x3x3xf32>) -> (tensor<1x32x8x8xf32>, tensor<1x32x15x15xf32>, tensor<1x32x15x15xf32>, tensor<1x32x15x15xf32>, tensor<1x32x15x15xf32>, tensor<1x32x15x15xf64>, tensor<1x7x15x15xf32>) {
  %0 = dlc.conv %x0, %w0 {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x32x15x15xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x8x8xf32>
  %1 = dlc.conv %x1, %w1 {strides = array<i64: 1, 1>, dilations = array<i64: 2, 2>, low = array<i64: 2, 2>, high = array<i64: 2, 2>, groups = 1 : i64} : (tensor<1x32x15x15xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x15x15xf32>
  %2 = dlc.conv %x2, %w2 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x32x15x15xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x15x15xf32>
  %3 = dlc.conv %x3, %w3 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 3, 3>, high = array<i64: 3, 3>, groups = 1 : i64} : (tensor<1x32x15x15xf32>, tensor<32x32x7x7xf32>) -> tensor<1x32x15x15xf32>
  %4 = dlc.conv %x4, %w4 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 2>, high = array<i64: 1, 2>, groups = 1 : i64} : (tensor<1x32x15x15xf32>, tensor<32x32x3x5xf32>) -> tensor<1x32x15x15xf32>
  %5 = dlc.conv %x5, %w5 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x32x15x15xf64>, tensor<32x32x3x3xf64>) -> tensor<1x32x15x15xf64>
  %6 = dlc.conv %x6, %w6 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x5x15x15xf32>, tensor<7x5x3x3xf32>) -> tensor<1x7x15x15xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<1x32x8x8xf32>, tensor<1x32x15x15xf32>, tensor<1x32x15x15xf32>, tensor<1x32x15x15xf32>, tensor<1x32x15x15xf32>, tensor<1x32x15x15xf64>, tensor<1x7x15x15xf32>
}
