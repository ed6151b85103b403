// Only dlc-raise-quantized matches a dequantization that is spelled out. Without that pass, the other passes and the kernels compute it as it is written: in f32.
// RUN: dlc-opt %s -dlc-integer-sums=costs=assumed -dlc-expand-quantized -dlc-pack-integers -dlc-simplify -dlc-tables -dlc-place -dlc-layout -dlc-fuse | FileCheck %s
// RUN: dlc-opt %s -dlc-raise-quantized -dlc-integer-sums=costs=assumed -dlc-expand-quantized -dlc-pack-integers -dlc-simplify -dlc-tables -dlc-place -dlc-layout -dlc-fuse | FileCheck %s --check-prefix=RAISED

// Both operands in 8 bits.
// CHECK-LABEL: @operands
// CHECK-NOT: zero_point
// CHECK: dlc.matmul {{.*}}tensor<4x64xf32{{.*}}tensor<64x64xf32
// RAISED-LABEL: @operands
// RAISED: dlc.matmul {{.*}}zero_point{{.*}}tensor<4x64xui8
func.func @operands(%x: tensor<4x64xui8>) -> tensor<4x64xf32> {
  %w = dlc.constant dense<3> : tensor<64x64xi8>
  %z = dlc.constant dense<7> : tensor<i32>
  %s = dlc.constant dense<0.5> : tensor<f32>
  %0 = dlc.cast %x to i32 : (tensor<4x64xui8>) -> tensor<4x64xi32>
  %1 = dlc.sub %0, %z : (tensor<4x64xi32>, tensor<i32>) -> tensor<4x64xi32>
  %2 = dlc.cast %1 to f32 : (tensor<4x64xi32>) -> tensor<4x64xf32>
  %3 = dlc.mul %2, %s : (tensor<4x64xf32>, tensor<f32>) -> tensor<4x64xf32>
  %4 = dlc.cast %w to f32 : (tensor<64x64xi8>) -> tensor<64x64xf32>
  %5 = dlc.mul %4, %s : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %y = dlc.matmul %3, %5 transpose_b : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

// Weights in blocks.
// CHECK-LABEL: @weights
// CHECK-NOT: dlc.dequantize
// CHECK-NOT: dlc.quantized_weights
// CHECK: dlc.matmul {{.*}}tensor<9x64xf32{{.*}}tensor<80x64xf32
// RAISED-LABEL: @weights
// RAISED: dlc.dequantize {{.*}}tensor<80x64xi8
// RAISED-NEXT: dlc.matmul {{.*}}dlc.quantized_weights
func.func @weights(%x: tensor<9x64xf32>) -> tensor<9x80xf32> {
  %q = dlc.constant dense<3> : tensor<80x4x16xi8>
  %s = dlc.constant dense<0.5> : tensor<80x4x1xf32>
  %0 = dlc.cast %q to f32 : (tensor<80x4x16xi8>) -> tensor<80x4x16xf32>
  %1 = dlc.mul %0, %s : (tensor<80x4x16xf32>, tensor<80x4x1xf32>) -> tensor<80x4x16xf32>
  %w = dlc.reshape %1 : (tensor<80x4x16xf32>) -> tensor<80x64xf32>
  %y = dlc.matmul %x, %w transpose_b : (tensor<9x64xf32>, tensor<80x64xf32>) -> tensor<9x80xf32>
  return %y : tensor<9x80xf32>
}

// A convolution of 8-bit integers.
// CHECK-LABEL: @conv
// CHECK-NOT: zero_point
// CHECK: dlc.conv {{.*}}tensor<1x16x8x8xf32
// RAISED-LABEL: @conv
// RAISED: dlc.conv {{.*}}zero_point{{.*}}tensor<1x16x8x8xui8
func.func @conv(%x: tensor<1x16x8x8xui8>) -> tensor<1x16x8x8xf32> {
  %w = dlc.constant dense<3> : tensor<16x16x1x1xi8>
  %z = dlc.constant dense<7> : tensor<i32>
  %s = dlc.constant dense<0.5> : tensor<f32>
  %0 = dlc.cast %x to i32 : (tensor<1x16x8x8xui8>) -> tensor<1x16x8x8xi32>
  %1 = dlc.sub %0, %z : (tensor<1x16x8x8xi32>, tensor<i32>) -> tensor<1x16x8x8xi32>
  %2 = dlc.cast %1 to f32 : (tensor<1x16x8x8xi32>) -> tensor<1x16x8x8xf32>
  %3 = dlc.mul %2, %s : (tensor<1x16x8x8xf32>, tensor<f32>) -> tensor<1x16x8x8xf32>
  %4 = dlc.cast %w to f32 : (tensor<16x16x1x1xi8>) -> tensor<16x16x1x1xf32>
  %5 = dlc.mul %4, %s : (tensor<16x16x1x1xf32>, tensor<f32>) -> tensor<16x16x1x1xf32>
  %y = dlc.conv %3, %5 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x8x8xf32>
  return %y : tensor<1x16x8x8xf32>
}
