// Results of elementwise operations.
// RUN: dlc-opt %s --dlc-evaluate | FileCheck %s

// CHECK-LABEL: @signs
func.func @signs() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<3xi8>, tensor<3xi8>, tensor<3xi8>, tensor<2xui8>) {
  %x = dlc.constant dense<[-1.5, 0.0, 2.5, 0x7FC00000]> : tensor<4xf32>
  %i = dlc.constant dense<[-128, 0, 7]> : tensor<3xi8>
  %u = dlc.constant dense<[1, 255]> : tensor<2xui8>
  // CHECK-NEXT: dense<[1.500000e+00, 0.000000e+00, 2.500000e+00, 0x7FC00000]>
  %abs = dlc.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: dense<[1.500000e+00, -0.000000e+00, -2.500000e+00, 0xFFC00000]>
  %neg = dlc.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: dense<[-1.000000e+00, 0.000000e+00, 1.000000e+00, 0x7FC00000]>
  %sign = dlc.sign %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: dense<[0.000000e+00, 0.000000e+00, 2.500000e+00, 0x7FC00000]>
  %relu = dlc.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  // The lowest integer has no representable negation.
  // CHECK-NEXT: dense<[-128, 0, 7]>
  %iabs = dlc.abs %i : (tensor<3xi8>) -> tensor<3xi8>
  // CHECK-NEXT: dense<[-1, 0, 1]>
  %isign = dlc.sign %i : (tensor<3xi8>) -> tensor<3xi8>
  // CHECK-NEXT: dense<[0, 0, 7]>
  %irelu = dlc.relu %i : (tensor<3xi8>) -> tensor<3xi8>
  // CHECK-NEXT: dense<[255, 1]>
  %uneg = dlc.neg %u : (tensor<2xui8>) -> tensor<2xui8>
  return %abs, %neg, %sign, %relu, %iabs, %isign, %irelu, %uneg : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<3xi8>, tensor<3xi8>, tensor<3xi8>, tensor<2xui8>
}

// CHECK-LABEL: @rounding
func.func @rounding() -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
  %x = dlc.constant dense<[-2.5, -1.5, -0.3, 0.5, 1.5, 2.7]> : tensor<6xf32>
  // CHECK-NEXT: dense<[-2.000000e+00, -1.000000e+00, -0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00]>
  %ceil = dlc.ceil %x : (tensor<6xf32>) -> tensor<6xf32>
  // CHECK-NEXT: dense<[-3.000000e+00, -2.000000e+00, -1.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00]>
  %floor = dlc.floor %x : (tensor<6xf32>) -> tensor<6xf32>
  // CHECK-NEXT: dense<[-2.000000e+00, -2.000000e+00, -0.000000e+00, 0.000000e+00, 2.000000e+00, 3.000000e+00]>
  %round = dlc.round %x : (tensor<6xf32>) -> tensor<6xf32>
  return %ceil, %floor, %round : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}

// CHECK-LABEL: @logic
func.func @logic() -> (tensor<2xi1>, tensor<2xi8>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) {
  %b = dlc.constant dense<[true, false]> : tensor<2xi1>
  %i = dlc.constant dense<[5, -1]> : tensor<2xi8>
  %p = dlc.constant dense<[true, true, false, false]> : tensor<4xi1>
  %q = dlc.constant dense<[true, false, true, false]> : tensor<4xi1>
  %m = dlc.constant dense<[12, -1]> : tensor<2xi32>
  %n = dlc.constant dense<[10, 255]> : tensor<2xi32>
  // CHECK-NEXT: dense<[false, true]>
  %0 = dlc.not %b : (tensor<2xi1>) -> tensor<2xi1>
  // CHECK-NEXT: dense<[-6, 0]>
  %1 = dlc.not %i : (tensor<2xi8>) -> tensor<2xi8>
  // CHECK-NEXT: dense<[true, false, false, false]>
  %2 = dlc.and %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: dense<[true, true, true, false]>
  %3 = dlc.or %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: dense<[false, true, true, false]>
  %4 = dlc.xor %p, %q : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK-NEXT: dense<[8, 255]>
  %5 = dlc.and %m, %n : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  // CHECK-NEXT: dense<[14, -1]>
  %6 = dlc.or %m, %n : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  // CHECK-NEXT: dense<[6, -256]>
  %7 = dlc.xor %m, %n : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2xi1>, tensor<2xi8>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>
}

// CHECK-LABEL: @classes
func.func @classes() -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  %x = dlc.constant dense<[0x7F800000, 0xFF800000, 0x7FC00000, 1.0]> : tensor<4xf32>
  // CHECK-NEXT: dense<[false, false, true, false]>
  %0 = dlc.is_nan %x : (tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: dense<[true, true, false, false]>
  %1 = dlc.is_inf %x : (tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: dense<[false, true, false, false]>
  %2 = dlc.is_inf %x {positive = false} : (tensor<4xf32>) -> tensor<4xi1>
  return %0, %1, %2 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

// CHECK-LABEL: @arithmetic
func.func @arithmetic() -> (tensor<2x2xf32>, tensor<2xi8>, tensor<2x2xf32>, tensor<2xi8>, tensor<2x2xf32>, tensor<2xi8>, tensor<2x2xf32>, tensor<4xi32>, tensor<2xui8>) {
  %a = dlc.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %b = dlc.constant dense<[4.0, 8.0]> : tensor<2xf32>
  %i = dlc.constant dense<[127, -128]> : tensor<2xi8>
  %j = dlc.constant dense<[1, 3]> : tensor<2xi8>
  %m = dlc.constant dense<[7, -7, 5, -2147483648]> : tensor<4xi32>
  %n = dlc.constant dense<[2, 2, 0, -1]> : tensor<4xi32>
  %u = dlc.constant dense<[200, 7]> : tensor<2xui8>
  %v = dlc.constant dense<[3, 0]> : tensor<2xui8>
  // CHECK-NEXT: dense<{{\[}}[5.000000e+00, 9.000000e+00], [6.000000e+00, 1.000000e+01]]>
  %0 = dlc.add %a, %b : (tensor<2x1xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  // CHECK-NEXT: dense<[-128, -125]>
  %1 = dlc.add %i, %j : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  // CHECK-NEXT: dense<{{\[}}[-3.000000e+00, -7.000000e+00], [-2.000000e+00, -6.000000e+00]]>
  %2 = dlc.sub %a, %b : (tensor<2x1xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  // CHECK-NEXT: dense<[126, 125]>
  %3 = dlc.sub %i, %j : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  // CHECK-NEXT: dense<{{\[}}[4.000000e+00, 8.000000e+00], [8.000000e+00, 1.600000e+01]]>
  %4 = dlc.mul %a, %b : (tensor<2x1xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  // CHECK-NEXT: dense<[127, -128]>
  %5 = dlc.mul %i, %j : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  // CHECK-NEXT: dense<{{\[}}[2.500000e-01, 1.250000e-01], [5.000000e-01, 2.500000e-01]]>
  %6 = dlc.div %a, %b : (tensor<2x1xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  // CHECK-NEXT: dense<[3, -3, 0, -2147483648]>
  %7 = dlc.div %m, %n : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK-NEXT: dense<[66, 0]>
  %8 = dlc.div %u, %v : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xui8>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<2x2xf32>, tensor<2xi8>, tensor<2x2xf32>, tensor<2xi8>, tensor<2x2xf32>, tensor<2xi8>, tensor<2x2xf32>, tensor<4xi32>, tensor<2xui8>
}

// CHECK-LABEL: @powers_and_remainders
func.func @powers_and_remainders() -> (tensor<3xf32>, tensor<5xi32>, tensor<2xi32>, tensor<2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<5xi32>, tensor<5xi32>) {
  %a = dlc.constant dense<[2.0, 9.0, 2.0]> : tensor<3xf32>
  %b = dlc.constant dense<[3.0, 0.5, -1.0]> : tensor<3xf32>
  %i = dlc.constant dense<[3, -2, -1, 7, 3]> : tensor<5xi32>
  %j = dlc.constant dense<[4, 3, -3, -1, 40]> : tensor<5xi64>
  %k = dlc.constant dense<[4, 8]> : tensor<2xi32>
  %half = dlc.constant dense<0.5> : tensor<f32>
  %c = dlc.constant dense<[3.0, 0.5]> : tensor<2xf32>
  %two = dlc.constant dense<2> : tensor<i32>
  %x = dlc.constant dense<[5.5, -5.5, 5.5, -5.5]> : tensor<4xf32>
  %y = dlc.constant dense<[2.0, 2.0, -2.0, -2.0]> : tensor<4xf32>
  %m = dlc.constant dense<[5, -5, 5, -5, 5]> : tensor<5xi32>
  %n = dlc.constant dense<[3, 3, -3, -3, 0]> : tensor<5xi32>
  // CHECK-NEXT: dense<[8.000000e+00, 3.000000e+00, 5.000000e-01]>
  %0 = dlc.pow %a, %b : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // 3^40 wraps to 32 bits.
  // CHECK-NEXT: dense<[81, -8, -1, 0, 689956897]>
  %1 = dlc.pow %i, %j : (tensor<5xi32>, tensor<5xi64>) -> tensor<5xi32>
  // CHECK-NEXT: dense<2>
  %2 = dlc.pow %k, %half : (tensor<2xi32>, tensor<f32>) -> tensor<2xi32>
  // CHECK-NEXT: dense<[9.000000e+00, 2.500000e-01]>
  %3 = dlc.pow %c, %two : (tensor<2xf32>, tensor<i32>) -> tensor<2xf32>
  // CHECK-NEXT: dense<[1.500000e+00, 5.000000e-01, -5.000000e-01, -1.500000e+00]>
  %4 = dlc.rem %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: dense<[1.500000e+00, -1.500000e+00, 1.500000e+00, -1.500000e+00]>
  %5 = dlc.rem %x, %y {truncated} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: dense<[2, 1, -1, -2, 0]>
  %6 = dlc.rem %m, %n : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32>
  // CHECK-NEXT: dense<[2, -2, 2, -2, 0]>
  %7 = dlc.rem %m, %n {truncated} : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<3xf32>, tensor<5xi32>, tensor<2xi32>, tensor<2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<5xi32>, tensor<5xi32>
}

// CHECK-LABEL: @extrema
func.func @extrema() -> (tensor<4xf32>, tensor<4xf32>, tensor<2xui8>, tensor<2xi8>) {
  %a = dlc.constant dense<[1.0, 5.0, 0x7FC00000, 1.0]> : tensor<4xf32>
  %b = dlc.constant dense<[2.0, 3.0, 1.0, 0x7FC00000]> : tensor<4xf32>
  %u = dlc.constant dense<[200, 7]> : tensor<2xui8>
  %v = dlc.constant dense<[100, 8]> : tensor<2xui8>
  %i = dlc.constant dense<[-56, 7]> : tensor<2xi8>
  %j = dlc.constant dense<[100, 8]> : tensor<2xi8>
  // CHECK-NEXT: dense<[2.000000e+00, 5.000000e+00, 0x7FC00000, 0x7FC00000]>
  %0 = dlc.max %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: dense<[1.000000e+00, 3.000000e+00, 0x7FC00000, 0x7FC00000]>
  %1 = dlc.min %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: dense<[200, 8]>
  %2 = dlc.max %u, %v : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xui8>
  // CHECK-NEXT: dense<[-56, 7]>
  %3 = dlc.min %i, %j : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<2xui8>, tensor<2xi8>
}

// CHECK-LABEL: @shifts
func.func @shifts() -> (tensor<4xui8>, tensor<4xui8>, tensor<3xi32>) {
  %u = dlc.constant dense<[1, 255, 129, 1]> : tensor<4xui8>
  %v = dlc.constant dense<[7, 4, 1, 8]> : tensor<4xui8>
  %i = dlc.constant dense<[-16, 16, -1]> : tensor<3xi32>
  %j = dlc.constant dense<[2, 2, 32]> : tensor<3xi32>
  // CHECK-NEXT: dense<[128, 240, 2, 0]>
  %0 = dlc.shift_left %u, %v : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  // CHECK-NEXT: dense<[0, 15, 64, 0]>
  %1 = dlc.shift_right %u, %v : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  // CHECK-NEXT: dense<[-4, 4, -1]>
  %2 = dlc.shift_right %i, %j : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  return %0, %1, %2 : tensor<4xui8>, tensor<4xui8>, tensor<3xi32>
}

// CHECK-LABEL: @comparisons
func.func @comparisons() -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<2xi1>) {
  %a = dlc.constant dense<[1.0, 2.0, 3.0, 0x7FC00000]> : tensor<4xf32>
  %two = dlc.constant dense<2.0> : tensor<f32>
  %u = dlc.constant dense<[200, 7]> : tensor<2xui8>
  %v = dlc.constant dense<[100, 7]> : tensor<2xui8>
  // CHECK-NEXT: dense<[false, true, false, false]>
  %0 = dlc.compare eq %a, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
  // CHECK-NEXT: dense<[true, false, true, true]>
  %1 = dlc.compare ne %a, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
  // CHECK-NEXT: dense<[true, false, false, false]>
  %2 = dlc.compare lt %a, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
  // CHECK-NEXT: dense<[true, true, false, false]>
  %3 = dlc.compare le %a, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
  // CHECK-NEXT: dense<[false, false, true, false]>
  %4 = dlc.compare gt %a, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
  // CHECK-NEXT: dense<[false, true, true, false]>
  %5 = dlc.compare ge %a, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
  // CHECK-NEXT: dense<[true, false]>
  %6 = dlc.compare gt %u, %v : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xi1>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<2xi1>
}

// CHECK-LABEL: @select
func.func @select() -> tensor<2x2xf16> {
  %c = dlc.constant dense<[[true], [false]]> : tensor<2x1xi1>
  %a = dlc.constant dense<[1.0, 2.0]> : tensor<2xf16>
  %b = dlc.constant dense<-1.0> : tensor<f16>
  // CHECK-NEXT: dense<{{\[}}[1.000000e+00, 2.000000e+00], [-1.000000e+00, -1.000000e+00]]>
  %0 = dlc.select %c, %a, %b : (tensor<2x1xi1>, tensor<2xf16>, tensor<f16>) -> tensor<2x2xf16>
  return %0 : tensor<2x2xf16>
}

// A result of one row that is longer than the evaluator's buffers, with a broadcast operand.
// CHECK-LABEL: @long_rows
func.func @long_rows() -> tensor<2xi64> {
  %i = dlc.iota 1 : tensor<2x3000xi64>
  %c = dlc.constant dense<[[2], [3]]> : tensor<2x1xi64>
  %0 = dlc.mul %i, %c : (tensor<2x3000xi64>, tensor<2x1xi64>) -> tensor<2x3000xi64>
  // CHECK-NEXT: dense<[8997000, 13495500]>
  %1 = dlc.reduce sum %0 axes [1] : (tensor<2x3000xi64>) -> tensor<2xi64>
  return %1 : tensor<2xi64>
}

// The bits are the index into the table, for signed and unsigned operands.
// CHECK-LABEL: @lookup
func.func @lookup() -> tensor<4xui8> {
  %x = dlc.constant dense<[0, 1, -1, -128]> : tensor<4xi8>
  // CHECK-NEXT: dense<[255, 254, 0, 127]>
  %0 = dlc.lookup %x in dense<"0xFFFEFDFCFBFAF9F8F7F6F5F4F3F2F1F0EFEEEDECEBEAE9E8E7E6E5E4E3E2E1E0DFDEDDDCDBDAD9D8D7D6D5D4D3D2D1D0CFCECDCCCBCAC9C8C7C6C5C4C3C2C1C0BFBEBDBCBBBAB9B8B7B6B5B4B3B2B1B0AFAEADACABAAA9A8A7A6A5A4A3A2A1A09F9E9D9C9B9A999897969594939291908F8E8D8C8B8A898887868584838281807F7E7D7C7B7A797877767574737271706F6E6D6C6B6A696867666564636261605F5E5D5C5B5A595857565554535251504F4E4D4C4B4A494847464544434241403F3E3D3C3B3A393837363534333231302F2E2D2C2B2A292827262524232221201F1E1D1C1B1A191817161514131211100F0E0D0C0B0A09080706050403020100"> : tensor<256xui8> : (tensor<4xi8>) -> tensor<4xui8>
  return %0 : tensor<4xui8>
}
