// For large dilated depthwise windows the library uses its general code, with one channel per vector, so that generated code is faster.
// RUN: dlc compile %s --cache none --threads 1 --to select --print-after select 2>&1 | FileCheck %s
// RUN: dlc run %s --cache none | FileCheck %s --check-prefix=RESULT
// REQUIRES: dlc, fma

// CHECK-NOT: dlc.reorder
// CHECK: dlc.fusion{{.*}} dlc.kernel = "generated"
// CHECK-NEXT: dlc.conv
// RESULT: f32 1x64x56x56
func.func @main(%x: tensor<1x64x56x56xf32>, %w: tensor<64x1x7x7xf32>) -> tensor<1x64x56x56xf32> {
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 3, 3>, low = array<i64: 9, 9>, high = array<i64: 9, 9>, groups = 64 : i64} : (tensor<1x64x56x56xf32>, tensor<64x1x7x7xf32>) -> tensor<1x64x56x56xf32>
  return %0 : tensor<1x64x56x56xf32>
}

// Taps at a stride of 128 elements are gathered one by one; also in plain tensors, for which a library would use im2col.
// CHECK: dlc.fusion{{.*}} dlc.kernel = "generated"
// CHECK-NEXT: dlc.conv
func.func @apart(%x: tensor<1x512x2001xf32>, %w: tensor<512x1x3xf32>) -> tensor<1x512x2001xf32> {
  %0 = dlc.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 128>, low = array<i64: 128>, high = array<i64: 128>, groups = 512 : i64} : (tensor<1x512x2001xf32>, tensor<512x1x3xf32>) -> tensor<1x512x2001xf32>
  return %0 : tensor<1x512x2001xf32>
}
