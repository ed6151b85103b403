// f32 matmuls in vectors are candidates at any accuracy, with epilogues and packed constant weights; matmuls of other
// types are not.
// RUN: dlc compile %s --cache none --kernels vectors --accuracy strict --to select --print-after select 2>&1 | FileCheck %s
// RUN: dlc run %s --cache none --kernels vectors | FileCheck %s --check-prefix=RESULT
// REQUIRES: dlc, fma

// CHECK: dlc.candidates = [{{[^]]*}}implementation = "vectors:avx{{.*}}", kernel = "vectors"{{.*}}dlc.kernel = "vectors"
// CHECK: dlc.candidates = [{{[^]]*}}implementation = "vectors:avx{{.*}}", kernel = "vectors"{{.*}}dlc.kernel = "vectors"
// CHECK: dlc.candidates = [{{[^]]*}}implementation = "vectors:avx{{.*}}", kernel = "vectors"{{.*}}dlc.kernel = "vectors"
// CHECK-NOT: dlc.kernel = "vectors"
// RESULT: f32 2x128x64
// RESULT: f64 128x64

func.func @main(%x: tensor<2x128x512xf32>, %y: tensor<256x512xf32>, %v: tensor<64x256xf32>, %z: tensor<128x64xf64>, %u: tensor<64x64xf64>) -> (tensor<2x128x64xf32>, tensor<128x64xf64>) {
  %w = dlc.constant dense<0.125> : tensor<512x512xf32>
  %0 = dlc.matmul %x, %w : (tensor<2x128x512xf32>, tensor<512x512xf32>) -> tensor<2x128x512xf32>
  %1 = dlc.relu %0 : (tensor<2x128x512xf32>) -> tensor<2x128x512xf32>
  %2 = dlc.matmul %1, %y transpose_b : (tensor<2x128x512xf32>, tensor<256x512xf32>) -> tensor<2x128x256xf32>
  %3 = dlc.tanh %2 : (tensor<2x128x256xf32>) -> tensor<2x128x256xf32>
  %4 = dlc.matmul %3, %v transpose_b : (tensor<2x128x256xf32>, tensor<64x256xf32>) -> tensor<2x128x64xf32>
  %5 = dlc.matmul %z, %u : (tensor<128x64xf64>, tensor<64x64xf64>) -> tensor<128x64xf64>
  return %4, %5 : tensor<2x128x64xf32>, tensor<128x64xf64>
}
