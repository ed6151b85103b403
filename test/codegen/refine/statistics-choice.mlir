// With long vectors and few channels, direct convolution is estimated to be as fast as Winograd; but then a kernel must read
// the result for its statistics. The total costs are compared, unless kernels are chosen by name.
// RUN: dlc compile %s --cache none --threads 2 --to refine --print-after refine 2>&1 | FileCheck %s
// RUN: dlc compile %s --cache none --threads 2 --kernels onednn --to refine --print-after refine 2>&1 | FileCheck %s --check-prefix=NAMED
// REQUIRES: dlc
// UNSUPPORTED: tiles

// CHECK: %[[Y:.*]]:4 = dlc.fusion
// CHECK-SAME: dlc.candidates = [{{[^,]*}}, implementation = "winograd:
// CHECK-SAME: dlc.kernel = "winograd"
// CHECK: dlc.fusion({{.*}} = %[[Y]]#2, {{.*}} = %[[Y]]#3)
// NAMED-NOT: dlc.kernel = "winograd"

func.func @main(%x: tensor<128x16x32x32xf32>, %w: tensor<16x16x3x3xf32>, %s: tensor<16xf32>, %o: tensor<16xf32>) -> (tensor<128x16x32x32xf32>, tensor<16xf32>, tensor<16xf32>) {
  %c = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<128x16x32x32xf32>, tensor<16x16x3x3xf32>) -> tensor<128x16x32x32xf32>
  %y, %mean, %variance = dlc.batch_norm_train %c, %s, %o {eps = 1.0e-5 : f64} : (tensor<128x16x32x32xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<128x16x32x32xf32>, tensor<16xf32>, tensor<16xf32>)
  return %y, %mean, %variance : tensor<128x16x32x32xf32>, tensor<16xf32>, tensor<16xf32>
}
