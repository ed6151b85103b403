// Conversions between element types: rounding, saturation, wrapping, special values.
// RUN: dlc-opt %s --dlc-evaluate | FileCheck %s

// Ties to even at 1 + 2^-11 and 1 + 3 * 2^-11; the largest f16, what rounds to it and what overflows; the smallest
// subnormal, its half (a tie to 0) and a little more than its half.
// CHECK-LABEL: @to_f16
func.func @to_f16() -> (tensor<5xf64>, tensor<4xf64>) {
  %x = dlc.constant dense<[1.00048828125, 1.00146484375, 65504.0, 65519.996, -65520.0]> : tensor<5xf64>
  %s = dlc.constant dense<[5.9604644775390625e-08, 2.98023223876953125e-08, 2.9802322387695316e-08, 6.097555160522461e-05]> : tensor<4xf64>
  %0 = dlc.cast %x to f16 : (tensor<5xf64>) -> tensor<5xf16>
  %1 = dlc.cast %s to f16 : (tensor<4xf64>) -> tensor<4xf16>
  // CHECK-NEXT: dense<[1.000000e+00, 1.001953125, 6.550400e+04, 6.550400e+04, 0xFFF0000000000000]>
  %2 = dlc.cast %0 to f64 : (tensor<5xf16>) -> tensor<5xf64>
  // CHECK-NEXT: dense<[5.9604644775390625E-8, 0.000000e+00, 5.9604644775390625E-8, 6.0975551605224609E-5]>
  %3 = dlc.cast %1 to f64 : (tensor<4xf16>) -> tensor<4xf64>
  return %2, %3 : tensor<5xf64>, tensor<4xf64>
}

// CHECK-LABEL: @to_bf16
func.func @to_bf16() -> (tensor<4xbf16>, tensor<2xbf16>) {
  %x = dlc.constant dense<[1.00390625, 1.01171875, 3.4e38, 0x7FC00000]> : tensor<4xf32>
  // 2^32 + 2^24 is halfway between two bf16 values and is rounded to the even one; one more is rounded up.
  %i = dlc.constant dense<[4311744512, 4311744513]> : tensor<2xi64>
  // CHECK-NEXT: dense<[1.000000e+00, 1.015630e+00, 0x7F80, 0x7FC0]>
  %0 = dlc.cast %x to bf16 : (tensor<4xf32>) -> tensor<4xbf16>
  // CHECK-NEXT: dense<[4.294970e+09, 4.328520e+09]>
  %1 = dlc.cast %i to bf16 : (tensor<2xi64>) -> tensor<2xbf16>
  return %0, %1 : tensor<4xbf16>, tensor<2xbf16>
}

// CHECK-LABEL: @float_to_integer
func.func @float_to_integer() -> (tensor<6xi8>, tensor<6xui8>, tensor<6xi64>, tensor<6xi1>) {
  %x = dlc.constant dense<[-1.9, 2.9, 300.0, -300.0, 0x7FC00000, 0x7F800000]> : tensor<6xf32>
  // CHECK-NEXT: dense<[-1, 2, 127, -128, 0, 127]>
  %0 = dlc.cast %x to i8 : (tensor<6xf32>) -> tensor<6xi8>
  // CHECK-NEXT: dense<[0, 2, 255, 0, 0, 255]>
  %1 = dlc.cast %x to ui8 : (tensor<6xf32>) -> tensor<6xui8>
  // CHECK-NEXT: dense<[-1, 2, 300, -300, 0, 9223372036854775807]>
  %2 = dlc.cast %x to i64 : (tensor<6xf32>) -> tensor<6xi64>
  // CHECK-NEXT: dense<true>
  %3 = dlc.cast %x to i1 : (tensor<6xf32>) -> tensor<6xi1>
  return %0, %1, %2, %3 : tensor<6xi8>, tensor<6xui8>, tensor<6xi64>, tensor<6xi1>
}

// CHECK-LABEL: @from_integer
func.func @from_integer() -> (tensor<4xi8>, tensor<4xui16>, tensor<4xi1>, tensor<4xf32>, tensor<2xf32>, tensor<2xf32>) {
  %x = dlc.constant dense<[256, 200, -1, 0]> : tensor<4xi32>
  %b = dlc.constant dense<[true, false]> : tensor<2xi1>
  %u = dlc.constant dense<[18446744073709551615, 1]> : tensor<2xui64>
  // CHECK-NEXT: dense<[0, -56, -1, 0]>
  %0 = dlc.cast %x to i8 : (tensor<4xi32>) -> tensor<4xi8>
  // CHECK-NEXT: dense<[256, 200, 65535, 0]>
  %1 = dlc.cast %x to ui16 : (tensor<4xi32>) -> tensor<4xui16>
  // CHECK-NEXT: dense<[true, true, true, false]>
  %2 = dlc.cast %x to i1 : (tensor<4xi32>) -> tensor<4xi1>
  // CHECK-NEXT: dense<[2.560000e+02, 2.000000e+02, -1.000000e+00, 0.000000e+00]>
  %3 = dlc.cast %x to f32 : (tensor<4xi32>) -> tensor<4xf32>
  // CHECK-NEXT: dense<[1.000000e+00, 0.000000e+00]>
  %4 = dlc.cast %b to f32 : (tensor<2xi1>) -> tensor<2xf32>
  // CHECK-NEXT: dense<[1.84467441E+19, 1.000000e+00]>
  %5 = dlc.cast %u to f32 : (tensor<2xui64>) -> tensor<2xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<4xi8>, tensor<4xui16>, tensor<4xi1>, tensor<4xf32>, tensor<2xf32>, tensor<2xf32>
}
