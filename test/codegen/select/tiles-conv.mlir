// Channels-last convolutions are candidates on AMX tiles: 1x1 windows as a matmul, others with a special kernel; with
// strides, too, and with epilogues. Groups are refused with the reason.
// RUN: dlc compile %s --cache none --kernels tiles --to select --print-after select 2>&1 | FileCheck %s
// RUN: dlc compile %s --cache none --kernels tiles --accuracy strict --to select --print-after select 2>&1 | FileCheck %s --check-prefix=STRICT
// RUN: dlc run %s --cache none --kernels tiles | FileCheck %s --check-prefix=RESULT
// REQUIRES: dlc, tiles

// CHECK: dlc.fusion{{.*}}dlc.candidates = [{{[^]]*}}implementation = "tiles:bf16x3", kernel = "tiles"
// CHECK: dlc.conv
// CHECK-NEXT: dlc.relu
// CHECK: dlc.fusion
// CHECK-SAME: dlc.candidates = [{{[^]]*}}implementation = "tiles:bf16x3", kernel = "tiles"
// CHECK: strides = array<i64: 2, 2>
// CHECK: dlc.fusion
// CHECK-SAME: dlc.refused = "{{.*}}tiles: required: two spatial dimensions and groups of 1
// STRICT-NOT: dlc.kernel = "tiles"
// STRICT: tiles: --accuracy strict does not permit its rounding
// RESULT: f32 1x32x14x14

func.func @main(%x: tensor<1x64x28x28xf32>, %w: tensor<256x64x1x1xf32>, %v: tensor<32x256x3x3xf32>, %u: tensor<32x16x3x3xf32>) -> tensor<1x32x14x14xf32> {
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x64x28x28xf32>, tensor<256x64x1x1xf32>) -> tensor<1x256x28x28xf32>
  %1 = dlc.relu %0 : (tensor<1x256x28x28xf32>) -> tensor<1x256x28x28xf32>
  %2 = dlc.conv %1, %v {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x256x28x28xf32>, tensor<32x256x3x3xf32>) -> tensor<1x32x14x14xf32>
  %3 = dlc.conv %2, %u {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x32x14x14xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x14x14xf32>
  return %3 : tensor<1x32x14x14xf32>
}
