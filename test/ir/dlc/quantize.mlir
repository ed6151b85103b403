// Quantized tensors: text and accepted types.
// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-opt %s --mlir-print-op-generic | dlc-opt | FileCheck %s

// CHECK-LABEL: func @quantize
func.func @quantize(%x: tensor<4x6xf32>, %one: tensor<f32>, %row: tensor<4x1xf32>, %block: tensor<4x2xf32>, %z: tensor<ui8>, %zf: tensor<4x1xf32>, %h: tensor<4x6xf16>, %hs: tensor<f16>) {
  // CHECK: dlc.quantize %{{.*}}, %{{.*}} to i8 : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xi8>
  %0 = dlc.quantize %x, %one to i8 : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xi8>
  // CHECK: dlc.quantize %{{.*}}, %{{.*}}, %{{.*}} to ui8 : (tensor<4x6xf32>, tensor<4x1xf32>, tensor<ui8>) -> tensor<4x6xui8>
  %1 = dlc.quantize %x, %row, %z to ui8 : (tensor<4x6xf32>, tensor<4x1xf32>, tensor<ui8>) -> tensor<4x6xui8>
  // CHECK: dlc.quantize %{{.*}}, %{{.*}} to i4 axis 1 block_size 3 : (tensor<4x6xf32>, tensor<4x2xf32>) -> tensor<4x6xi4>
  %2 = dlc.quantize %x, %block to i4 axis 1 block_size 3 : (tensor<4x6xf32>, tensor<4x2xf32>) -> tensor<4x6xi4>
  // CHECK: dlc.quantize %{{.*}}, %{{.*}}, %{{.*}} to i16 low -100 high 100 reciprocal zero_point_first : (tensor<4x6xf32>, tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x6xi16>
  %3 = dlc.quantize %x, %row, %zf to i16 low -100 high 100 reciprocal zero_point_first : (tensor<4x6xf32>, tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x6xi16>
  // CHECK: dlc.quantize %{{.*}}, %{{.*}} to ui4 : (tensor<4x6xf16>, tensor<f16>) -> tensor<4x6xui4>
  %4 = dlc.quantize %h, %hs to ui4 : (tensor<4x6xf16>, tensor<f16>) -> tensor<4x6xui4>
  return
}

// CHECK-LABEL: func @dequantize
func.func @dequantize(%w: tensor<5x70xui4>, %s: tensor<5x3xf32>, %z: tensor<5x3xui4>, %zf: tensor<5x3xf32>, %x: tensor<2x3x4xi8>, %c: tensor<1x3x1xf16>, %i: tensor<6xi32>, %one: tensor<f32>, %zi: tensor<i32>, %d: tensor<?x?xi8>) {
  // CHECK: dlc.dequantize %{{.*}}, %{{.*}}, %{{.*}} axis 1 block_size 32 : (tensor<5x70xui4>, tensor<5x3xf32>, tensor<5x3xui4>) -> tensor<5x70xf32>
  %0 = dlc.dequantize %w, %s, %z axis 1 block_size 32 : (tensor<5x70xui4>, tensor<5x3xf32>, tensor<5x3xui4>) -> tensor<5x70xf32>
  // CHECK: dlc.dequantize %{{.*}}, %{{.*}}, %{{.*}} axis 1 block_size 32 : (tensor<5x70xui4>, tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x70xf32>
  %1 = dlc.dequantize %w, %s, %zf axis 1 block_size 32 : (tensor<5x70xui4>, tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x70xf32>
  // CHECK: dlc.dequantize %{{.*}}, %{{.*}} : (tensor<2x3x4xi8>, tensor<1x3x1xf16>) -> tensor<2x3x4xf16>
  %2 = dlc.dequantize %x, %c : (tensor<2x3x4xi8>, tensor<1x3x1xf16>) -> tensor<2x3x4xf16>
  // CHECK: dlc.dequantize %{{.*}}, %{{.*}}, %{{.*}} : (tensor<6xi32>, tensor<f32>, tensor<i32>) -> tensor<6xf32>
  %3 = dlc.dequantize %i, %one, %zi : (tensor<6xi32>, tensor<f32>, tensor<i32>) -> tensor<6xf32>
  // CHECK: dlc.dequantize %{{.*}}, %{{.*}} : (tensor<?x?xi8>, tensor<f32>) -> tensor<?x?xf32>
  %4 = dlc.dequantize %d, %one : (tensor<?x?xi8>, tensor<f32>) -> tensor<?x?xf32>
  return
}

// A quantized scale.
// CHECK-LABEL: func @nested
func.func @nested(%w: tensor<4x64xi4>, %s: tensor<4x4xi8>, %outer: tensor<4x1xf32>) {
  // CHECK: %[[S:.*]] = dlc.dequantize %{{.*}}, %{{.*}} : (tensor<4x4xi8>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %0 = dlc.dequantize %s, %outer : (tensor<4x4xi8>, tensor<4x1xf32>) -> tensor<4x4xf32>
  // CHECK: dlc.dequantize %{{.*}}, %[[S]] axis 1 block_size 16 : (tensor<4x64xi4>, tensor<4x4xf32>) -> tensor<4x64xf32>
  %1 = dlc.dequantize %w, %0 axis 1 block_size 16 : (tensor<4x64xi4>, tensor<4x4xf32>) -> tensor<4x64xf32>
  return
}

// CHECK-LABEL: func @dynamic
func.func @dynamic(%x: tensor<4x6xf32>) {
  // CHECK: dlc.dynamic_quantize %{{.*}} : (tensor<4x6xf32>) -> (tensor<4x6xui8>, tensor<f32>, tensor<ui8>)
  %0:3 = dlc.dynamic_quantize %x : (tensor<4x6xf32>) -> (tensor<4x6xui8>, tensor<f32>, tensor<ui8>)
  // CHECK: dlc.dynamic_quantize %{{.*}} axes [1] : (tensor<4x6xf32>) -> (tensor<4x6xui8>, tensor<4x1xf32>, tensor<4x1xui8>)
  %1:3 = dlc.dynamic_quantize %x axes [1] : (tensor<4x6xf32>) -> (tensor<4x6xui8>, tensor<4x1xf32>, tensor<4x1xui8>)
  return
}

// CHECK-LABEL: func @contractions
func.func @contractions(%a: tensor<2x3xui8>, %b: tensor<3x4xi8>, %za: tensor<ui8>, %zr: tensor<2x1xui8>, %zb: tensor<1x4xi32>, %q: tensor<4x3xi4>, %x: tensor<1x3x5x5xui8>, %w: tensor<4x3x3x3xi8>, %bias: tensor<4xi32>, %zw: tensor<4xi8>) {
  // CHECK: dlc.matmul %{{.*}}, %{{.*}} : (tensor<2x3xui8>, tensor<3x4xi8>) -> tensor<2x4xi32>
  %0 = dlc.matmul %a, %b : (tensor<2x3xui8>, tensor<3x4xi8>) -> tensor<2x4xi32>
  // CHECK: dlc.matmul %{{.*}}, %{{.*}} a_zero_point %{{.*}} b_zero_point %{{.*}} : (tensor<2x3xui8>, tensor<3x4xi8>, tensor<ui8>, tensor<1x4xi32>) -> tensor<2x4xi32>
  %1 = dlc.matmul %a, %b a_zero_point %za b_zero_point %zb : (tensor<2x3xui8>, tensor<3x4xi8>, tensor<ui8>, tensor<1x4xi32>) -> tensor<2x4xi32>
  // CHECK: dlc.matmul %{{.*}}, %{{.*}} a_zero_point %{{.*}} transpose_b : (tensor<2x3xui8>, tensor<4x3xi4>, tensor<2x1xui8>) -> tensor<2x4xi32>
  %2 = dlc.matmul %a, %q a_zero_point %zr transpose_b : (tensor<2x3xui8>, tensor<4x3xi4>, tensor<2x1xui8>) -> tensor<2x4xi32>
  // CHECK: dlc.conv %{{.*}}, %{{.*}}, %{{.*}} x_zero_point %{{.*}} w_zero_point %{{.*}} {{{.*}}} : (tensor<1x3x5x5xui8>, tensor<4x3x3x3xi8>, tensor<4xi32>, tensor<ui8>, tensor<4xi8>) -> tensor<1x4x5x5xi32>
  %3 = dlc.conv %x, %w, %bias x_zero_point %za w_zero_point %zw {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x3x5x5xui8>, tensor<4x3x3x3xi8>, tensor<4xi32>, tensor<ui8>, tensor<4xi8>) -> tensor<1x4x5x5xi32>
  // CHECK: dlc.conv %{{.*}}, %{{.*}} x_zero_point %{{.*}} {{{.*}}} : (tensor<1x3x5x5xui8>, tensor<4x3x3x3xi8>, tensor<ui8>) -> tensor<1x4x3x3xi32>
  %4 = dlc.conv %x, %w x_zero_point %za {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x3x5x5xui8>, tensor<4x3x3x3xi8>, tensor<ui8>) -> tensor<1x4x3x3xi32>
  return
}

// 4-bit integers: casts, constants, and gathers of rows.
// CHECK-LABEL: func @packed
func.func @packed(%x: tensor<3x5xf32>, %i: tensor<2xi64>) -> tensor<2x5xi4> {
  // CHECK: dlc.constant dense<{{\[}}[-8, 7, 0], [1, -1, 2]]> : tensor<2x3xi4>
  %0 = dlc.constant dense<[[-8, 7, 0], [1, -1, 2]]> : tensor<2x3xi4>
  // CHECK: dlc.constant dense<15> : tensor<3xui4>
  %1 = dlc.constant dense<15> : tensor<3xui4>
  // CHECK: dlc.cast %{{.*}} to i4 : (tensor<3x5xf32>) -> tensor<3x5xi4>
  %2 = dlc.cast %x to i4 : (tensor<3x5xf32>) -> tensor<3x5xi4>
  // CHECK: dlc.gather 0 %{{.*}}, %{{.*}} : (tensor<3x5xi4>, tensor<2xi64>) -> tensor<2x5xi4>
  %3 = dlc.gather 0 %2, %i : (tensor<3x5xi4>, tensor<2xi64>) -> tensor<2x5xi4>
  return %3 : tensor<2x5xi4>
}
