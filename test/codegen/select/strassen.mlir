// f32 matmuls by Strassen's algorithm: with constant packed weights and with others, with epilogues and with an in-place update. They
// are candidates by default, but not with strict accuracy, nor for a batch, few rows or columns, or another type.
// RUN: dlc compile %s --cache none --kernels strassen --to select --print-after select 2>&1 | FileCheck %s
// RUN: dlc compile %s --cache none --kernels strassen --accuracy strict --to select --print-after select 2>&1 | FileCheck %s --check-prefix=STRICT
// RUN: dlc run %s --cache none --kernels strassen | FileCheck %s --check-prefix=RESULT
// REQUIRES: dlc, fma

// CHECK-COUNT-4: dlc.candidates = [{{[^]]*}}implementation = "strassen:avx{{.*}}", kernel = "strassen"{{.*}}dlc.kernel = "strassen"
// CHECK-NOT: dlc.kernel = "strassen"
// STRICT: strassen: --accuracy strict does not permit its rounding
// STRICT-NOT: dlc.kernel = "strassen"
// RESULT: f32 2x128x64

func.func @main(%x: tensor<2x128x512xf32>, %y: tensor<256x512xf32>, %v: tensor<64x256xf32>, %z: tensor<128x64xf64>, %u: tensor<64x64xf64>, %few: tensor<27x64xf32>, %s: tensor<64x64xf32>, %b: tensor<3x64x64xf32>)
    -> (tensor<2x128x64xf32>, tensor<128x64xf64>, tensor<27x64xf32>, tensor<3x64x64xf32>, tensor<64x64xf32>) {
  %w = dlc.constant dense<0.125> : tensor<512x512xf32>
  %0 = dlc.matmul %x, %w : (tensor<2x128x512xf32>, tensor<512x512xf32>) -> tensor<2x128x512xf32>
  %1 = dlc.relu %0 : (tensor<2x128x512xf32>) -> tensor<2x128x512xf32>
  %2 = dlc.matmul %1, %y transpose_b : (tensor<2x128x512xf32>, tensor<256x512xf32>) -> tensor<2x128x256xf32>
  %3 = dlc.tanh %2 : (tensor<2x128x256xf32>) -> tensor<2x128x256xf32>
  %4 = dlc.matmul %3, %v transpose_b : (tensor<2x128x256xf32>, tensor<64x256xf32>) -> tensor<2x128x64xf32>
  %5 = dlc.matmul %z, %u : (tensor<128x64xf64>, tensor<64x64xf64>) -> tensor<128x64xf64>
  %6 = dlc.matmul %few, %s : (tensor<27x64xf32>, tensor<64x64xf32>) -> tensor<27x64xf32>
  %7 = dlc.matmul %b, %b : (tensor<3x64x64xf32>, tensor<3x64x64xf32>) -> tensor<3x64x64xf32>
  %8 = dlc.reshape %4 : (tensor<2x128x64xf32>) -> tensor<256x64xf32>
  %9 = dlc.matmul %8, %8 transpose_a : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
  %rate = dlc.constant dense<0.5> : tensor<f32>
  %10 = dlc.mul %9, %rate : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %11 = dlc.sub %s, %10 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %4, %5, %6, %7, %11 : tensor<2x128x64xf32>, tensor<128x64xf64>, tensor<27x64xf32>, tensor<3x64x64xf32>, tensor<64x64xf32>
}
