// Quantized tensors: rounding, saturation, zero points, blocks, and matmuls of 4 and 8 bits; also with the operations expanded.
// RUN: dlc-opt %s --dlc-evaluate | FileCheck %s
// RUN: dlc-opt %s --dlc-expand-quantized --dlc-evaluate | FileCheck %s

// CHECK-LABEL: @quantize
func.func @quantize() -> (tensor<6xi8>, tensor<6xui8>, tensor<6xi8>, tensor<6xi8>) {
  %x = dlc.constant dense<[-1.0, 0.25, 0.75, 2.5, 300.0, 0x7FC00000]> : tensor<6xf32>
  %s = dlc.constant dense<0.5> : tensor<f32>
  %z = dlc.constant dense<10> : tensor<ui8>
  %one = dlc.constant dense<1> : tensor<i8>
  // Rounds ties to even, then saturates.
  // CHECK-NEXT: dense<[-2, 0, 2, 5, 127, 0]> : tensor<6xi8>
  %0 = dlc.quantize %x, %s to i8 : (tensor<6xf32>, tensor<f32>) -> tensor<6xi8>
  // CHECK-NEXT: dense<[8, 10, 12, 15, 255, 0]> : tensor<6xui8>
  %1 = dlc.quantize %x, %s, %z to ui8 : (tensor<6xf32>, tensor<f32>, tensor<ui8>) -> tensor<6xui8>
  // CHECK-NEXT: dense<[-1, 2, 2, 6, 127, 0]> : tensor<6xi8>
  %2 = dlc.quantize %x, %s, %one to i8 zero_point_first : (tensor<6xf32>, tensor<f32>, tensor<i8>) -> tensor<6xi8>
  // CHECK-NEXT: dense<[-1, 0, 2, 5, 6, 0]> : tensor<6xi8>
  %3 = dlc.quantize %x, %s to i8 low -1 high 6 : (tensor<6xf32>, tensor<f32>) -> tensor<6xi8>
  return %0, %1, %2, %3 : tensor<6xi8>, tensor<6xui8>, tensor<6xi8>, tensor<6xi8>
}

// In f32, 27.750002 / 0.3 is 92.5, a tie, and 27.750002 * (1 / 0.3) is 92.50001.
// CHECK-LABEL: @reciprocal
func.func @reciprocal() -> (tensor<2xi32>, tensor<2xi32>) {
  %x = dlc.constant dense<[27.750002, -27.750002]> : tensor<2xf32>
  %s = dlc.constant dense<0.3> : tensor<f32>
  // CHECK-NEXT: dense<[92, -92]>
  %0 = dlc.quantize %x, %s to i8 : (tensor<2xf32>, tensor<f32>) -> tensor<2xi8>
  // CHECK-NEXT: dense<[93, -93]>
  %1 = dlc.quantize %x, %s to i8 reciprocal : (tensor<2xf32>, tensor<f32>) -> tensor<2xi8>
  %2 = dlc.cast %0 to i32 : (tensor<2xi8>) -> tensor<2xi32>
  %3 = dlc.cast %1 to i32 : (tensor<2xi8>) -> tensor<2xi32>
  return %2, %3 : tensor<2xi32>, tensor<2xi32>
}

// CHECK-LABEL: @blocks
func.func @blocks() -> (tensor<1x5xi8>, tensor<1x5xf32>, tensor<3x2xf32>, tensor<1x2xf32>) {
  %x = dlc.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0]]> : tensor<1x5xf32>
  %s = dlc.constant dense<[[1.0, 2.0, 4.0]]> : tensor<1x3xf32>
  // The last block is shorter.
  // CHECK-NEXT: dense<{{\[}}[1, 2, 2, 2, 1]]> : tensor<1x5xi8>
  %0 = dlc.quantize %x, %s to i8 axis 1 block_size 2 : (tensor<1x5xf32>, tensor<1x3xf32>) -> tensor<1x5xi8>
  %q = dlc.constant dense<[[15, 8, 0, 1, 7]]> : tensor<1x5xui4>
  %z = dlc.constant dense<[[8, 8, 1]]> : tensor<1x3xui4>
  // CHECK-NEXT: dense<{{\[}}[7.000000e+00, 0.000000e+00, -1.600000e+01, -1.400000e+01, 2.400000e+01]]> : tensor<1x5xf32>
  %1 = dlc.dequantize %q, %s, %z axis 1 block_size 2 : (tensor<1x5xui4>, tensor<1x3xf32>, tensor<1x3xui4>) -> tensor<1x5xf32>
  %c = dlc.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
  %t = dlc.constant dense<[[1.0, 0.5], [2.0, 4.0]]> : tensor<2x2xf32>
  // CHECK-NEXT: dense<{{\[}}[1.000000e+00, 1.000000e+00], [3.000000e+00, 2.000000e+00], [1.000000e+01, 2.400000e+01]]> : tensor<3x2xf32>
  %2 = dlc.dequantize %c, %t axis 0 block_size 2 : (tensor<3x2xi8>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %h = dlc.constant dense<0.5> : tensor<f32>
  %zf = dlc.constant dense<0.25> : tensor<f32>
  %w = dlc.constant dense<[[1, 2]]> : tensor<1x2xi8>
  // A zero point that is not an integer.
  // CHECK-NEXT: dense<{{\[}}[3.750000e-01, 8.750000e-01]]> : tensor<1x2xf32>
  %3 = dlc.dequantize %w, %h, %zf : (tensor<1x2xi8>, tensor<f32>, tensor<f32>) -> tensor<1x2xf32>
  return %0, %1, %2, %3 : tensor<1x5xi8>, tensor<1x5xf32>, tensor<3x2xf32>, tensor<1x2xf32>
}

// CHECK-LABEL: @dynamic
func.func @dynamic() -> (tensor<4xui8>, tensor<f32>, tensor<ui8>, tensor<2x2xui8>, tensor<2x1xf32>, tensor<2x1xui8>) {
  %x = dlc.constant dense<[0.0, 2.0, -1.0, 2.5]> : tensor<4xf32>
  // CHECK-NEXT: dense<[73, 219, 0, 255]> : tensor<4xui8>
  // CHECK-NEXT: dense<0.0137254903> : tensor<f32>
  // CHECK-NEXT: dense<73> : tensor<ui8>
  %0:3 = dlc.dynamic_quantize %x : (tensor<4xf32>) -> (tensor<4xui8>, tensor<f32>, tensor<ui8>)
  // A row of zeros has the scale 0.
  %r = dlc.constant dense<[[0.0, 0.0], [255.0, 1.0]]> : tensor<2x2xf32>
  // CHECK-NEXT: dense<{{\[}}[0, 0], [255, 1]]> : tensor<2x2xui8>
  // CHECK-NEXT: dense<{{\[}}[0.000000e+00], [1.000000e+00]]> : tensor<2x1xf32>
  // CHECK-NEXT: dense<0> : tensor<2x1xui8>
  %1:3 = dlc.dynamic_quantize %r axes [1] : (tensor<2x2xf32>) -> (tensor<2x2xui8>, tensor<2x1xf32>, tensor<2x1xui8>)
  return %0#0, %0#1, %0#2, %1#0, %1#1, %1#2 : tensor<4xui8>, tensor<f32>, tensor<ui8>, tensor<2x2xui8>, tensor<2x1xf32>, tensor<2x1xui8>
}

// CHECK-LABEL: @contractions
func.func @contractions() -> (tensor<1x2xi32>, tensor<1x2xi32>, tensor<1x2x3xi32>) {
  %a = dlc.constant dense<[[1, 2, 255]]> : tensor<1x3xui8>
  %b = dlc.constant dense<[[1, -1], [2, 3], [-128, 127]]> : tensor<3x2xi8>
  %za = dlc.constant dense<1> : tensor<ui8>
  %zb = dlc.constant dense<[[0, 1]]> : tensor<1x2xi8>
  // CHECK-NEXT: dense<{{\[}}[-32510, 32006]]> : tensor<1x2xi32>
  %0 = dlc.matmul %a, %b a_zero_point %za b_zero_point %zb : (tensor<1x3xui8>, tensor<3x2xi8>, tensor<ui8>, tensor<1x2xi8>) -> tensor<1x2xi32>
  %q = dlc.constant dense<[[-8, 7, 1], [1, 2, 3]]> : tensor<2x3xi4>
  // CHECK-NEXT: dense<{{\[}}[261, 770]]> : tensor<1x2xi32>
  %1 = dlc.matmul %a, %q transpose_b : (tensor<1x3xui8>, tensor<2x3xi4>) -> tensor<1x2xi32>
  %x = dlc.constant dense<[[[1, 2, 3]]]> : tensor<1x1x3xui8>
  %w = dlc.constant dense<[[[1, -1]], [[2, 3]]]> : tensor<2x1x2xi8>
  %bias = dlc.constant dense<[10, 20]> : tensor<2xi32>
  %zw = dlc.constant dense<[0, 1]> : tensor<2xi8>
  // Padding adds nothing.
  // CHECK-NEXT: dense<{{\[\[}}[10, 9, 9], [20, 22, 25]]]> : tensor<1x2x3xi32>
  %2 = dlc.conv %x, %w, %bias x_zero_point %za w_zero_point %zw {dilations = array<i64: 1>, groups = 1 : i64, high = array<i64: 0>, low = array<i64: 1>, strides = array<i64: 1>} : (tensor<1x1x3xui8>, tensor<2x1x2xi8>, tensor<2xi32>, tensor<ui8>, tensor<2xi8>) -> tensor<1x2x3xi32>
  return %0, %1, %2 : tensor<1x2xi32>, tensor<1x2xi32>, tensor<1x2x3xi32>
}
