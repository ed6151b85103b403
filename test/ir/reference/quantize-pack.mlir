// Packing 4-bit integers into bytes does not change results.
// RUN: dlc-opt %s --dlc-expand-quantized --dlc-pack-integers --dlc-evaluate | FileCheck %s

// CHECK-LABEL: @packed
func.func @packed() -> (tensor<5xi8>, tensor<f32>, tensor<2x3xi32>, tensor<5xui8>, tensor<3xf32>) {
  %f = dlc.constant dense<[-9.5, 7.9, 3.5, -3.5, 0x7FC00000]> : tensor<5xf32>
  %0 = dlc.cast %f to i4 : (tensor<5xf32>) -> tensor<5xi4>
  // CHECK-NEXT: dense<[-8, 7, 3, -3, 0]> : tensor<5xi8>
  %1 = dlc.cast %0 to i8 : (tensor<5xi4>) -> tensor<5xi8>
  %c = dlc.constant dense<-7> : tensor<i4>
  // CHECK-NEXT: dense<-7.{{0+e\+00}}> : tensor<f32>
  %2 = dlc.cast %c to f32 : (tensor<i4>) -> tensor<f32>
  %table = dlc.constant dense<[[-8, -7, 7], [1, -1, 0], [5, 6, -6]]> : tensor<3x3xi4>
  %i = dlc.constant dense<[2, 0]> : tensor<2xi64>
  %3 = dlc.gather 0 %table, %i : (tensor<3x3xi4>, tensor<2xi64>) -> tensor<2x3xi4>
  // CHECK-NEXT: dense<{{\[}}[5, 6, -6], [-8, -7, 7]]> : tensor<2x3xi32>
  %4 = dlc.cast %3 to i32 : (tensor<2x3xi4>) -> tensor<2x3xi32>
  %5 = dlc.cast %0 to ui4 : (tensor<5xi4>) -> tensor<5xui4>
  // CHECK-NEXT: dense<[8, 7, 3, 13, 0]> : tensor<5xui8>
  %6 = dlc.cast %5 to ui8 : (tensor<5xui4>) -> tensor<5xui8>
  %x = dlc.constant dense<[15, 0, 9]> : tensor<3xui4>
  %s = dlc.constant dense<0.5> : tensor<f32>
  %z = dlc.constant dense<8> : tensor<ui4>
  // CHECK-NEXT: dense<[3.500000e+00, -4.000000e+00, 5.000000e-01]> : tensor<3xf32>
  %7 = dlc.dequantize %x, %s, %z : (tensor<3xui4>, tensor<f32>, tensor<ui4>) -> tensor<3xf32>
  return %1, %2, %4, %6, %7 : tensor<5xi8>, tensor<f32>, tensor<2x3xi32>, tensor<5xui8>, tensor<3xf32>
}
