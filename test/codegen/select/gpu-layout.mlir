// Channels-last images keep their layout on a GPU with cuDNN: one call computes everything up to the pool, and the kernel that casts
// the weights to 16 bits transposes them. Without the library, generated tiles copy the same vectors of channels.
// REQUIRES: dlc, emulated-gpu
// RUN: env DLC_CUDA_CUDNN=%build/lib/libdlc_emulated_gpu.so %emulated-gpu dlc compile %s --device cuda:0 --cache none --print-after lower -o %t.dlcx 2>&1 | FileCheck %s
// RUN: %emulated-gpu dlc compile %s --device cuda:0 --cache none --print-after lower -o %t.dlcx 2>&1 | FileCheck %s --check-prefix=ALONE

// CHECK: exec.program
// CHECK: exec.launch @k0_cast_transpose
// CHECK: exec.library "cudnn"
// CHECK-SAME: \22post\22:[{\22dims\22:[8,64,28,28],\22dtype\22:\22bf16\22,\22op\22:\22add\22,\22strides\22:[50176,1,1792,64]},{\22dims\22:[1,64,1,1]
// CHECK-SAME: \22w\22:{\22dims\22:[64,64,3,3],\22strides\22:[576,1,192,64]}
// CHECK-SAME: \22x\22:{\22dims\22:[8,64,28,28],\22strides\22:[50176,1,1792,64]},\22y\22:{\22dims\22:[8,64,28,28],\22strides\22:[50176,1,1792,64]}
// CHECK: exec.launch @k1_transpose_max_pool_transpose
// CHECK-NOT: exec.launch
// ALONE: exec.program
// ALONE-NOT: exec.library
// ALONE: exec.launch @k0_cast_transpose
// ALONE: exec.launch @k1_transpose_transpose_conv
// ALONE: exec.launch @k2_transpose_max_pool_transpose
// ALONE-NOT: exec.launch
func.func @main(%x: tensor<8x28x28x64xbf16>, %m: tensor<64x64x3x3xf32>, %b: tensor<64x1x1xbf16>) -> tensor<8x14x14x64xbf16> {
  %0 = dlc.transpose %x [0, 3, 1, 2] : (tensor<8x28x28x64xbf16>) -> tensor<8x64x28x28xbf16>
  %w = dlc.cast %m to bf16 : (tensor<64x64x3x3xf32>) -> tensor<64x64x3x3xbf16>
  %1 = dlc.conv %0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<8x64x28x28xbf16>, tensor<64x64x3x3xbf16>) -> tensor<8x64x28x28xbf16>
  %2 = dlc.add %1, %b : (tensor<8x64x28x28xbf16>, tensor<64x1x1xbf16>) -> tensor<8x64x28x28xbf16>
  %3 = dlc.add %2, %0 : (tensor<8x64x28x28xbf16>, tensor<8x64x28x28xbf16>) -> tensor<8x64x28x28xbf16>
  %4 = dlc.relu %3 : (tensor<8x64x28x28xbf16>) -> tensor<8x64x28x28xbf16>
  %5 = dlc.max_pool %4 {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<8x64x28x28xbf16>) -> tensor<8x64x14x14xbf16>
  %6 = dlc.transpose %5 [0, 2, 3, 1] : (tensor<8x64x14x14xbf16>) -> tensor<8x14x14x64xbf16>
  return %6 : tensor<8x14x14x64xbf16>
}
