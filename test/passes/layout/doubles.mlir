// No library reorders f64: values that are not images of a convolution remain plain, even if a reorder would move nothing (one channel).
// RUN: dlc compile %s --cache none --to layout --print-after layout --threads 2 --profile zen5 2>&1 | FileCheck %s
// RUN: dlc run %s --cache none | FileCheck %s --check-prefix=RESULT
// REQUIRES: dlc, fma

// CHECK-LABEL: func.func @main
// CHECK: #dlc.on<cpu, {{acdb|aBcd16b}}>
// CHECK-NOT: xf64, #dlc.on<cpu, a
// RESULT: f64 17x1x2x17
func.func @main(%x: tensor<1x64x28x28xf32>, %w: tensor<64x1x7x7xf32>, %y: tensor<17x1x2x17xf64>, %z: tensor<17x1x2x17xf64>) -> (tensor<1x64x28x28xf32>, tensor<17x1x2x17xf64>) {
  %c0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 3, 3>, high = array<i64: 3, 3>, dilations = array<i64: 1, 1>, groups = 64 : i64} : (tensor<1x64x28x28xf32>, tensor<64x1x7x7xf32>) -> tensor<1x64x28x28xf32>
  %c1 = dlc.conv %c0, %w {strides = array<i64: 1, 1>, low = array<i64: 3, 3>, high = array<i64: 3, 3>, dilations = array<i64: 1, 1>, groups = 64 : i64} : (tensor<1x64x28x28xf32>, tensor<64x1x7x7xf32>) -> tensor<1x64x28x28xf32>
  %c2 = dlc.conv %c1, %w {strides = array<i64: 1, 1>, low = array<i64: 3, 3>, high = array<i64: 3, 3>, dilations = array<i64: 1, 1>, groups = 64 : i64} : (tensor<1x64x28x28xf32>, tensor<64x1x7x7xf32>) -> tensor<1x64x28x28xf32>
  %c3 = dlc.conv %c2, %w {strides = array<i64: 1, 1>, low = array<i64: 3, 3>, high = array<i64: 3, 3>, dilations = array<i64: 1, 1>, groups = 64 : i64} : (tensor<1x64x28x28xf32>, tensor<64x1x7x7xf32>) -> tensor<1x64x28x28xf32>
  %1 = dlc.max %y, %z : (tensor<17x1x2x17xf64>, tensor<17x1x2x17xf64>) -> tensor<17x1x2x17xf64>
  return %c3, %1 : tensor<1x64x28x28xf32>, tensor<17x1x2x17xf64>
}
