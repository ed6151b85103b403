// A bf16 weight gradient with f32 results is a candidate on AMX tiles, in one part; groups are refused. At strict accuracy, the result is rounded to bf16 before the cast, which is not fused.
// RUN: dlc compile %s --cache none --kernels tiles --profile sapphirerapids --to select --print-after select 2>&1 | FileCheck %s
// RUN: dlc run %s --cache none --kernels tiles | FileCheck %s --check-prefix=RESULT
// REQUIRES: dlc, tiles

// CHECK: dlc.fusion{{.*}}dlc.candidates = [{{[^]]*}}implementation = "tiles:bf16", kernel = "tiles"
// CHECK: dlc.conv_weight_grad
// CHECK-NEXT: dlc.cast
// CHECK: dlc.refused = "{{.*}}tiles: required: two spatial dimensions and groups of 1
// RESULT: f32 64x96x3x3
// RESULT: f32 64x48x3x3

func.func @main(%x: tensor<4x96x28x28xbf16>, %dy: tensor<4x64x28x28xbf16>) -> (tensor<64x96x3x3xf32>, tensor<64x48x3x3xf32>) {
  %0 = "dlc.conv_weight_grad"(%x, %dy) {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<4x96x28x28xbf16>, tensor<4x64x28x28xbf16>) -> tensor<64x96x3x3xbf16>
  %1 = dlc.cast %0 to f32 : (tensor<64x96x3x3xbf16>) -> tensor<64x96x3x3xf32>
  %2 = "dlc.conv_weight_grad"(%x, %dy) {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 2 : i64} : (tensor<4x96x28x28xbf16>, tensor<4x64x28x28xbf16>) -> tensor<64x48x3x3xbf16>
  %3 = dlc.cast %2 to f32 : (tensor<64x48x3x3xbf16>) -> tensor<64x48x3x3xf32>
  return %1, %3 : tensor<64x96x3x3xf32>, tensor<64x48x3x3xf32>
}
