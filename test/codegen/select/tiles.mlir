// Matmuls of bf16 parts are candidates if their rounding is allowed: not with --accuracy strict or for an operation with that
// attribute, but with --matmul-precision high.
// RUN: dlc compile %s --cache none --kernels tiles --to select --print-after select 2>&1 | FileCheck %s
// RUN: dlc compile %s --cache none --kernels tiles --accuracy strict --to select --print-after select 2>&1 | FileCheck %s --check-prefix=STRICT
// RUN: dlc compile %s --cache none --kernels tiles --accuracy strict --matmul-precision high --to select --print-after select 2>&1 | FileCheck %s --check-prefix=HIGH
// RUN: dlc run %s --cache none --kernels tiles | FileCheck %s --check-prefix=RESULT
// REQUIRES: dlc, tiles

// CHECK: dlc.candidates = [{{[^]]*}}implementation = "tiles:bf16x3", kernel = "tiles"
// CHECK: dlc.fusion
// CHECK-NOT: dlc.kernel = "tiles"
// CHECK: dlc.accuracy = "strict"
// STRICT-NOT: dlc.kernel = "tiles"
// HIGH-COUNT-2: dlc.kernel = "tiles"
// RESULT: f32 128x64

func.func @main(%x: tensor<128x512xf32>, %w: tensor<512x256xf32>, %v: tensor<256x64xf32>) -> tensor<128x64xf32> {
  %0 = dlc.matmul %x, %w : (tensor<128x512xf32>, tensor<512x256xf32>) -> tensor<128x256xf32>
  %1 = dlc.relu %0 : (tensor<128x256xf32>) -> tensor<128x256xf32>
  %2 = dlc.matmul %1, %v {dlc.accuracy = "strict"} : (tensor<128x256xf32>, tensor<256x64xf32>) -> tensor<128x64xf32>
  return %2 : tensor<128x64xf32>
}
