// cuDNN computes wrong f32 weight gradients with asymmetric padding; those on tensor cores are correct.
// RUN: %emulated-gpu env DLC_CUDA_CUDNN=%build/lib/libdlc_emulated_gpu.so dlc compile %s --device cuda:0 --gpu-arch sm_90 --cache none --kernels cudnn --to select --print-after select 2>&1 | FileCheck %s
// RUN: %emulated-gpu env DLC_CUDA_CUDNN=%build/lib/libdlc_emulated_gpu.so dlc compile %s --device cuda:0 --gpu-arch sm_90 --cache none --kernels cudnn --matmul-precision high --to select --print-after select 2>&1 | FileCheck %s --check-prefix=TF32
// REQUIRES: dlc, emulated-gpu

// CHECK: dlc.kernel = "cudnn"
// CHECK-NEXT: dlc.conv_weight_grad{{.*}}low = array<i64: 1, 1>
// CHECK: dlc.kernel = "cuda"
// CHECK-NEXT: dlc.conv_weight_grad{{.*}}low = array<i64: 0, 0>
// TF32: dlc.kernel = "cudnn"
// TF32: dlc.kernel = "cudnn"
// TF32-NEXT: dlc.conv_weight_grad{{.*}}low = array<i64: 0, 0>
func.func @main(%x: tensor<2x16x16x16xf32>, %d: tensor<2x32x8x8xf32>) -> (tensor<32x16x3x3xf32>, tensor<32x16x2x2xf32>) {
  %0 = dlc.conv_weight_grad %x, %d {window = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x16x16x16xf32>, tensor<2x32x8x8xf32>) -> tensor<32x16x3x3xf32>
  %1 = dlc.conv_weight_grad %x, %d {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x16x16x16xf32>, tensor<2x32x8x8xf32>) -> tensor<32x16x2x2xf32>
  return %0, %1 : tensor<32x16x3x3xf32>, tensor<32x16x2x2xf32>
}
