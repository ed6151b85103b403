// In blocked layouts, channels are padded with zeros to whole blocks: constants when they are packed. Epilogue ops that are not zero-preserving are a separate
// kernel; operands that are not constant are refused with the reason.
// RUN: dlc compile %s --cache none --kernels winograd --to select --print-after select 2>&1 | FileCheck %s
// REQUIRES: dlc, avx512

func.func @main(%x: tensor<1x36x64x64xf32>, %b: tensor<72xf32>) -> (tensor<1x72x64x64xf32>, tensor<1x72x64x64xf32>, tensor<1x72x64x64xf32>) {
  %w = dlc.constant dense<0.5> : tensor<72x36x3x3xf32>
  %c = dlc.constant dense<0.25> : tensor<72xf32>
  // CHECK: dlc.candidates = [{{.*}}dlc.kernel = "winograd"
  // CHECK: dlc.gelu
  %0 = dlc.conv %x, %w, %c {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x36x64x64xf32>, tensor<72x36x3x3xf32>, tensor<72xf32>) -> tensor<1x72x64x64xf32>
  %1 = dlc.gelu %0 : (tensor<1x72x64x64xf32>) -> tensor<1x72x64x64xf32>
  // CHECK: dlc.kernel = "winograd"
  // CHECK: dlc.conv
  // CHECK-NEXT: dlc.yield
  // CHECK: dlc.sigmoid
  %2 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x36x64x64xf32>, tensor<72x36x3x3xf32>) -> tensor<1x72x64x64xf32>
  %3 = dlc.sigmoid %2 : (tensor<1x72x64x64xf32>) -> tensor<1x72x64x64xf32>
  // CHECK: dlc.refused = "{{[^"]*}}winograd: the bias must be constant, because it is padded to a multiple of the channel block
  %4 = dlc.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x36x64x64xf32>, tensor<72x36x3x3xf32>, tensor<72xf32>) -> tensor<1x72x64x64xf32>
  return %1, %3, %4 : tensor<1x72x64x64xf32>, tensor<1x72x64x64xf32>, tensor<1x72x64x64xf32>
}
