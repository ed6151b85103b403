// Depthwise convolutions between cuDNN convolutions: generated with their epilogues, in the layout of the others.
// REQUIRES: dlc, emulated-gpu
// RUN: env DLC_CUDA_CUDNN=%build/lib/libdlc_emulated_gpu.so %emulated-gpu dlc compile %s --device cuda:0 --cache none --print-after lower -o %t.dlcx 2>&1 | FileCheck %s

// CHECK: exec.program
// CHECK-NOT: exec.launch
// CHECK: exec.library "cudnn"
// CHECK-NOT: exec.launch
// CHECK: exec.launch @{{[a-z0-9_]*}}conv_{{[a-z0-9_]*}}(
// CHECK-NOT: exec.launch
// CHECK: exec.library "cudnn"
// CHECK-NOT: exec.launch
func.func @main(%x: tensor<16x28x28x32xbf16>, %w: tensor<96x32x1x1xbf16>, %d: tensor<96x1x3x3xbf16>, %b: tensor<96x1x1xbf16>, %v: tensor<32x96x1x1xbf16>) -> tensor<16x28x28x32xbf16> {
  %zero = dlc.constant dense<0.0> : tensor<bf16>
  %six = dlc.constant dense<6.0> : tensor<bf16>
  %0 = dlc.transpose %x [0, 3, 1, 2] : (tensor<16x28x28x32xbf16>) -> tensor<16x32x28x28xbf16>
  %1 = dlc.conv %0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<16x32x28x28xbf16>, tensor<96x32x1x1xbf16>) -> tensor<16x96x28x28xbf16>
  %2 = dlc.conv %1, %d {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 96 : i64} : (tensor<16x96x28x28xbf16>, tensor<96x1x3x3xbf16>) -> tensor<16x96x28x28xbf16>
  %3 = dlc.add %2, %b : (tensor<16x96x28x28xbf16>, tensor<96x1x1xbf16>) -> tensor<16x96x28x28xbf16>
  %4 = dlc.max %3, %zero : (tensor<16x96x28x28xbf16>, tensor<bf16>) -> tensor<16x96x28x28xbf16>
  %5 = dlc.min %4, %six : (tensor<16x96x28x28xbf16>, tensor<bf16>) -> tensor<16x96x28x28xbf16>
  %6 = dlc.conv %5, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<16x96x28x28xbf16>, tensor<32x96x1x1xbf16>) -> tensor<16x32x28x28xbf16>
  %7 = dlc.transpose %6 [0, 2, 3, 1] : (tensor<16x32x28x28xbf16>) -> tensor<16x28x28x32xbf16>
  return %7 : tensor<16x28x28x32xbf16>
}
