// Convolutions with constant weights are candidates for direct convolution with packed weights, at any accuracy. Unsupported
// cases are listed with the reason.
// RUN: dlc compile %s --cache none --kernels direct --accuracy strict --to select --print-after select 2>&1 | FileCheck %s
// RUN: dlc compile %s --cache none --kernels direct --accuracy strict -o %t.dlcx
// RUN: dlc inspect %t.dlcx | FileCheck %s --check-prefix=MADE
// REQUIRES: dlc

// CHECK: dlc.candidates = [{{[^,]*}}, implementation = "direct:avx{{.*}}dlc.kernel = "direct"
// CHECK: dlc.refused = "{{[^"]*}}direct: the weights are not constant
// CHECK: dlc.refused = "{{[^"]*}}direct: required: groups of 1
// CHECK: dlc.refused = "{{[^"]*}}direct: {{required: input and result in blocks of 16 or 8 channels|required: a multiple of}}
// CHECK: dlc.refused = "{{[^"]*}}direct: the operation is not a single convolution

// MADE: library {{.*}}direct:avx

func.func @main(%x: tensor<1x64x28x28xf32>, %v: tensor<64x64x3x3xf32>, %z: tensor<1x5x15x15xf32>, %h: tensor<1x64x28x28xf64>) -> (tensor<1x64x14x14xf32>, tensor<1x64x28x28xf32>, tensor<1x64x28x28xf32>, tensor<1x7x15x15xf32>, tensor<1x64x28x28xf64>) {
  %w = dlc.constant dense<0.5> : tensor<64x64x3x3xf32>
  %0 = dlc.conv %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x64x28x28xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x14x14xf32>
  %1 = dlc.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x28x28xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x28x28xf32>
  %g = dlc.constant dense<0.5> : tensor<64x32x3x3xf32>
  %2 = dlc.conv %x, %g {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x64x28x28xf32>, tensor<64x32x3x3xf32>) -> tensor<1x64x28x28xf32>
  %u = dlc.constant dense<0.5> : tensor<7x5x3x3xf32>
  %3 = dlc.conv %z, %u {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x5x15x15xf32>, tensor<7x5x3x3xf32>) -> tensor<1x7x15x15xf32>
  %d = dlc.constant dense<0.5> : tensor<64x64x3x3xf64>
  %4 = dlc.conv %h, %d {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x28x28xf64>, tensor<64x64x3x3xf64>) -> tensor<1x64x28x28xf64>
  return %0, %1, %2, %3, %4 : tensor<1x64x14x14xf32>, tensor<1x64x28x28xf32>, tensor<1x64x28x28xf32>, tensor<1x7x15x15xf32>, tensor<1x64x28x28xf64>
}
