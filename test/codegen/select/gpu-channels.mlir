// On tensor cores: windows that do not overlap are rows of a matmul, and three channels are padded to a vector of eight, for a convolution and its
// gradient together.
// RUN: %emulated-gpu env DLC_CUDA_CUBLASLT=%build/lib/libdlc_emulated_gpu.so DLC_CUDA_CUDNN=%build/lib/libdlc_emulated_gpu.so dlc compile %s --device cuda:0 --gpu-arch sm_90 --cache none --to layout --print-after layout 2>&1 | FileCheck %s
// REQUIRES: dlc, emulated-gpu

// CHECK-LABEL: func.func @main
// CHECK-NOT: dlc.conv
// CHECK: dlc.matmul {{.*}}tensor<2048x768xbf16
// CHECK: %[[P:.*]] = dlc.pad {{.*}} -> tensor<32x128x128x8xbf16
// CHECK-NOT: dlc.pad {{.*}} -> tensor<32x128x128x8xbf16
// CHECK: dlc.conv {{.*}}tensor<32x8x128x128xbf16, #dlc.on<cuda:0, acdb>>
// CHECK-NOT: dlc.pad {{.*}} -> tensor<32x128x128x8xbf16
// CHECK: dlc.conv_weight_grad {{.*}}tensor<32x8x128x128xbf16, #dlc.on<cuda:0, acdb>>
// CHECK: dlc.slice {{.*}} -> tensor<32x3x7x7xbf16
func.func @main(%x: tensor<32x3x128x128xbf16>, %w: tensor<768x3x16x16xbf16>, %v: tensor<32x3x7x7xbf16>, %b: tensor<768xbf16>) -> (tensor<32x768x8x8xbf16>, tensor<32x32x128x128xbf16>, tensor<32x3x7x7xbf16>) {
  %0 = dlc.conv %x, %w, %b {strides = array<i64: 16, 16>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<32x3x128x128xbf16>, tensor<768x3x16x16xbf16>, tensor<768xbf16>) -> tensor<32x768x8x8xbf16>
  %1 = dlc.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 3, 3>, high = array<i64: 3, 3>, groups = 1 : i64} : (tensor<32x3x128x128xbf16>, tensor<32x3x7x7xbf16>) -> tensor<32x32x128x128xbf16>
  %2 = dlc.conv_weight_grad %x, %1 {window = array<i64: 7, 7>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 3, 3>, high = array<i64: 3, 3>, groups = 1 : i64} : (tensor<32x3x128x128xbf16>, tensor<32x32x128x128xbf16>) -> tensor<32x3x7x7xbf16>
  return %0, %1, %2 : tensor<32x768x8x8xbf16>, tensor<32x32x128x128xbf16>, tensor<32x3x7x7xbf16>
}
