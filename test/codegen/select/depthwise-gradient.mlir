// The vectorized weight gradient of a depthwise convolution is a candidate for any window, and the library's general code is estimated correctly.
// RUN: dlc compile %s --cache none --to select --print-after select 2>&1 | FileCheck %s
// RUN: dlc run %s --cache none | FileCheck %s --check-prefix=RESULT
// REQUIRES: dlc, fma

// CHECK: dlc.candidates = [{{{[^{}]*}}implementation = "builtin:lane_weight_grad"
// CHECK: dlc.conv_weight_grad
// RESULT: f32 64x1x5x5

func.func @main(%x: tensor<4x64x14x14xf32>, %dy: tensor<4x64x14x14xf32>) -> tensor<64x1x5x5xf32> {
  %0 = "dlc.conv_weight_grad"(%x, %dy) {window = array<i64: 5, 5>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 2, 2>, high = array<i64: 2, 2>, groups = 64 : i64} : (tensor<4x64x14x14xf32>, tensor<4x64x14x14xf32>) -> tensor<64x1x5x5xf32>
  return %0 : tensor<64x1x5x5xf32>
}
