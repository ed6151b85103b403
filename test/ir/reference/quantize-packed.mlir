// 4-bit integers: rounding, saturation, wrapping, and gathers of rows.
// RUN: dlc-opt %s --dlc-evaluate | FileCheck %s

// CHECK-LABEL: @four_bits
func.func @four_bits() -> (tensor<6xi4>, tensor<6xui4>, tensor<2x3xi4>, tensor<5xi4>, tensor<5xui4>, tensor<4xi4>, tensor<5xi8>) {
  %x = dlc.constant dense<[-1.0, 0.25, 0.75, 2.5, 300.0, -9.0]> : tensor<6xf32>
  %s = dlc.constant dense<0.5> : tensor<f32>
  // CHECK-NEXT: dense<[-2, 0, 2, 5, 7, -8]> : tensor<6xi4>
  %0 = dlc.quantize %x, %s to i4 : (tensor<6xf32>, tensor<f32>) -> tensor<6xi4>
  // CHECK-NEXT: dense<[0, 0, 2, 5, 15, 0]> : tensor<6xui4>
  %1 = dlc.quantize %x, %s to ui4 : (tensor<6xf32>, tensor<f32>) -> tensor<6xui4>
  // Rows with an odd number of elements begin at a byte boundary.
  %table = dlc.constant dense<[[-8, -7, 7], [1, -1, 0], [5, 6, -6]]> : tensor<3x3xi4>
  %i = dlc.constant dense<[2, 0]> : tensor<2xi64>
  // CHECK-NEXT: dense<{{\[}}[5, 6, -6], [-8, -7, 7]]> : tensor<2x3xi4>
  %2 = dlc.gather 0 %table, %i : (tensor<3x3xi4>, tensor<2xi64>) -> tensor<2x3xi4>
  %f = dlc.constant dense<[-9.5, 7.9, 3.5, -3.5, 0x7FC00000]> : tensor<5xf32>
  // CHECK-NEXT: dense<[-8, 7, 3, -3, 0]> : tensor<5xi4>
  %3 = dlc.cast %f to i4 : (tensor<5xf32>) -> tensor<5xi4>
  // CHECK-NEXT: dense<[0, 7, 3, 0, 0]> : tensor<5xui4>
  %4 = dlc.cast %f to ui4 : (tensor<5xf32>) -> tensor<5xui4>
  %b = dlc.constant dense<[8, -9, 15, 16]> : tensor<4xi8>
  // CHECK-NEXT: dense<[-8, 7, -1, 0]> : tensor<4xi4>
  %5 = dlc.cast %b to i4 : (tensor<4xi8>) -> tensor<4xi4>
  // CHECK-NEXT: dense<[-8, 7, 3, -3, 0]> : tensor<5xi8>
  %6 = dlc.cast %3 to i8 : (tensor<5xi4>) -> tensor<5xi8>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<6xi4>, tensor<6xui4>, tensor<2x3xi4>, tensor<5xi4>, tensor<5xui4>, tensor<4xi4>, tensor<5xi8>
}
