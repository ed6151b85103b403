// Winograd convolutions are candidates if their rounding is allowed; --accuracy strict, or the operation's
// attribute, excludes them.
// RUN: dlc compile %s --cache none --kernels winograd --to select --print-after select 2>&1 | FileCheck %s
// RUN: dlc compile %s --cache none --kernels winograd --accuracy strict --to select --print-after select 2>&1 | FileCheck %s --check-prefix=STRICT
// RUN: not dlc compile %s --cache none --accuracy sloppy 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// REQUIRES: dlc

// CHECK: dlc.candidates = [{{.*}}dlc.kernel = "winograd"
// CHECK: dlc.fusion
// CHECK-NOT: winograd:f
// CHECK: dlc.refused = "winograd: --accuracy strict does not permit its rounding
// CHECK: dlc.accuracy = "strict"
// STRICT-NOT: winograd:f
// UNKNOWN: accuracy 'sloppy': required: strict, default or fast

func.func @main(%x: tensor<1x32x28x28xf32>, %w: tensor<48x32x3x3xf32>, %v: tensor<32x48x3x3xf32>) -> tensor<1x32x28x28xf32> {
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x32x28x28xf32>, tensor<48x32x3x3xf32>) -> tensor<1x48x28x28xf32>
  %1 = dlc.conv %0, %v {dlc.accuracy = "strict", strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x48x28x28xf32>, tensor<32x48x3x3xf32>) -> tensor<1x32x28x28xf32>
  return %1 : tensor<1x32x28x28xf32>
}
