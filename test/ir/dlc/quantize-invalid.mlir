// Quantized tensors: one test per constraint, and the inferred types.
// RUN: dlc-opt %s -verify-diagnostics=only-expected -split-input-file

func.func @c1_scale(%x: tensor<4x6xi8>, %s: tensor<6xf32>) {
  // expected-error @+1 {{'dlc.dequantize' op C1: 'scale' must have rank 0 or broadcast to [4, 6]; found [6]; reshape it}}
  %0 = dlc.dequantize %x, %s : (tensor<4x6xi8>, tensor<6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @c1_blocks(%x: tensor<4x70xi8>, %s: tensor<4x2xf32>) {
  // expected-error @+1 {{'dlc.dequantize' op C1: 'scale' must have rank 0 or broadcast to [4, 3]; found [4, 2]; reshape it}}
  %0 = dlc.dequantize %x, %s axis 1 block_size 32 : (tensor<4x70xi8>, tensor<4x2xf32>) -> tensor<4x70xf32>
  return
}

// -----

func.func @c1_zero(%x: tensor<4x6xf32>, %s: tensor<f32>, %z: tensor<2x1xi8>) {
  // expected-error @+1 {{'dlc.quantize' op C1: 'zero_point' must have rank 0 or broadcast to [4, 6]; found [2, 1]; reshape it}}
  %0 = dlc.quantize %x, %s, %z to i8 : (tensor<4x6xf32>, tensor<f32>, tensor<2x1xi8>) -> tensor<4x6xi8>
  return
}

// -----

func.func @c2_axis(%x: tensor<4x6xi8>, %s: tensor<f32>) {
  // expected-error @+1 {{'dlc.dequantize' op C2:}}
  %0 = dlc.dequantize %x, %s axis 2 block_size 2 : (tensor<4x6xi8>, tensor<f32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @c2_block(%x: tensor<4x6xi8>, %s: tensor<f32>) {
  // expected-error @+1 {{'dlc.dequantize' op C2: `block_size` must be 1 or more and have an `axis`; found 0; fix the attribute}}
  %0 = dlc.dequantize %x, %s axis 1 block_size 0 : (tensor<4x6xi8>, tensor<f32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @c2_no_axis(%x: tensor<4x6xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'dlc.quantize' op C2: `block_size` must be 1 or more and have an `axis`; found 2 without one; fix the attribute}}
  %0 = dlc.quantize %x, %s to i8 block_size 2 : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xi8>
  return
}

// -----

func.func @c3(%x: tensor<4x6xi8, #dlc.on<cpu>>, %s: tensor<4x1xf32, #dlc.on<cpu:1>>) {
  // expected-error @+1 {{'dlc.dequantize' op C3:}}
  %0 = dlc.dequantize %x, %s : (tensor<4x6xi8, #dlc.on<cpu>>, tensor<4x1xf32, #dlc.on<cpu:1>>) -> tensor<4x6xf32, #dlc.on<cpu>>
  return
}

// -----

func.func @c4_type(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'dlc.quantize' op C4: `to` must be an integer type of 4 to 32 bits; found 'i64'; choose i8 or ui8}}
  %0 = dlc.quantize %x, %s to i64 : (tensor<4xf32>, tensor<f32>) -> tensor<4xi64>
  return
}

// -----

func.func @c4_limits(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'dlc.quantize' op C4: `low` and `high` must be ascending values of 'i4', from -8 to 7; found -8 and 8; fix the attributes}}
  %0 = dlc.quantize %x, %s to i4 high 8 : (tensor<4xf32>, tensor<f32>) -> tensor<4xi4>
  return
}

// -----

func.func @c4_zero(%x: tensor<4xi8>, %s: tensor<f32>, %z: tensor<ui8>) {
  // expected-error @+1 {{'dlc.dequantize' op C4: 'zero_point' must have the element type of 'x', 'i8', i32, or that of the scale, 'f32'; found 'ui8'; cast it}}
  %0 = dlc.dequantize %x, %s, %z : (tensor<4xi8>, tensor<f32>, tensor<ui8>) -> tensor<4xf32>
  return
}

// -----

func.func @c5(%x: tensor<4xf32>, %s: tensor<f32>, %z: tensor<ui8>) {
  // expected-error @+1 {{'dlc.quantize' op C5: 'zero_point' must have the element type 'i8', or i32; found 'ui8'; cast it}}
  %0 = dlc.quantize %x, %s, %z to i8 : (tensor<4xf32>, tensor<f32>, tensor<ui8>) -> tensor<4xi8>
  return
}

// -----

func.func @c1_axes(%x: tensor<4x6xf32>) {
  // expected-error @+1 {{'dlc.dynamic_quantize' op C1: `axes` must be ascending; found [1, 0]; sort them}}
  %0:3 = dlc.dynamic_quantize %x axes [1, 0] : (tensor<4x6xf32>) -> (tensor<4x6xui8>, tensor<1x1xf32>, tensor<1x1xui8>)
  return
}

// -----

func.func @matmul_c4(%a: tensor<2x3xi8>, %b: tensor<3x4xi16>) {
  // expected-error @+1 {{'dlc.matmul' op C4:}}
  %0 = dlc.matmul %a, %b : (tensor<2x3xi8>, tensor<3x4xi16>) -> tensor<2x4xi32>
  return
}

// -----

func.func @matmul_c5_floats(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %z: tensor<i32>) {
  // expected-error @+1 {{'dlc.matmul' op C5: 'a_zero_point' needs operands of 4 or 8 bits; found 'f32'; subtract it from the operand}}
  %0 = dlc.matmul %a, %b a_zero_point %z : (tensor<2x3xf32>, tensor<3x4xf32>, tensor<i32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @matmul_c5_type(%a: tensor<2x3xi8>, %b: tensor<3x4xi8>, %z: tensor<ui8>) {
  // expected-error @+1 {{'dlc.matmul' op C5: 'b_zero_point' must have the element type of 'b', 'i8', or i32; found 'ui8'; cast it}}
  %0 = dlc.matmul %a, %b b_zero_point %z : (tensor<2x3xi8>, tensor<3x4xi8>, tensor<ui8>) -> tensor<2x4xi32>
  return
}

// -----

func.func @matmul_c6(%a: tensor<2x3xi8>, %b: tensor<3x4xi8>, %z: tensor<3x1xi8>) {
  // expected-error @+1 {{'dlc.matmul' op C6: 'b_zero_point' must have rank 0 or broadcast to [1, 4]; found [3, 1]; reshape it}}
  %0 = dlc.matmul %a, %b b_zero_point %z : (tensor<2x3xi8>, tensor<3x4xi8>, tensor<3x1xi8>) -> tensor<2x4xi32>
  return
}

// -----

func.func @matmul_result(%a: tensor<2x3xi8>, %b: tensor<3x4xi8>) {
  // expected-error @+1 {{'dlc.matmul' op inferred type(s) 'tensor<2x4xi32>' are incompatible with return type(s) of operation 'tensor<2x4xi8>'}}
  %0 = dlc.matmul %a, %b : (tensor<2x3xi8>, tensor<3x4xi8>) -> tensor<2x4xi8>
  return
}

// -----

func.func @conv_c4_bias(%x: tensor<1x3x5xi8>, %w: tensor<4x3x3xi8>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.conv' op C4: 'bias' must be i32 as the sums are; found 'f32'; cast it}}
  %0 = dlc.conv %x, %w, %b {dilations = array<i64: 1>, groups = 1 : i64, high = array<i64: 0>, low = array<i64: 0>, strides = array<i64: 1>} : (tensor<1x3x5xi8>, tensor<4x3x3xi8>, tensor<4xf32>) -> tensor<1x4x3xi32>
  return
}

// -----

func.func @conv_c7(%x: tensor<1x3x5xf32>, %w: tensor<4x3x3xf32>, %z: tensor<i32>) {
  // expected-error @+1 {{'dlc.conv' op C7: 'x_zero_point' needs operands of 4 or 8 bits; found 'f32'; subtract it from the operand}}
  %0 = dlc.conv %x, %w x_zero_point %z {dilations = array<i64: 1>, groups = 1 : i64, high = array<i64: 0>, low = array<i64: 0>, strides = array<i64: 1>} : (tensor<1x3x5xf32>, tensor<4x3x3xf32>, tensor<i32>) -> tensor<1x4x3xf32>
  return
}

// -----

func.func @conv_c8_x(%x: tensor<1x3x5xi8>, %w: tensor<4x3x3xi8>, %z: tensor<3xi8>) {
  // expected-error @+1 {{'dlc.conv' op C8: 'x_zero_point' must have rank 0; found [3]; reshape it}}
  %0 = dlc.conv %x, %w x_zero_point %z {dilations = array<i64: 1>, groups = 1 : i64, high = array<i64: 0>, low = array<i64: 0>, strides = array<i64: 1>} : (tensor<1x3x5xi8>, tensor<4x3x3xi8>, tensor<3xi8>) -> tensor<1x4x3xi32>
  return
}

// -----

func.func @conv_c8_w(%x: tensor<1x3x5xi8>, %w: tensor<4x3x3xi8>, %z: tensor<3xi8>) {
  // expected-error @+1 {{'dlc.conv' op C8:}}
  %0 = dlc.conv %x, %w w_zero_point %z {dilations = array<i64: 1>, groups = 1 : i64, high = array<i64: 0>, low = array<i64: 0>, strides = array<i64: 1>} : (tensor<1x3x5xi8>, tensor<4x3x3xi8>, tensor<3xi8>) -> tensor<1x4x3xi32>
  return
}

// -----

// Views and arithmetic do not accept 4-bit integers.
func.func @packed_view(%x: tensor<4x6xi4>) {
  // expected-error @+1 {{'dlc.reshape' op operand #0 must be}}
  %0 = dlc.reshape %x : (tensor<4x6xi4>) -> tensor<24xi4>
  return
}

// -----

func.func @packed_add(%x: tensor<4x6xi4>) {
  // expected-error @+1 {{'dlc.add' op operand #0 must be}}
  %0 = dlc.add %x, %x : (tensor<4x6xi4>, tensor<4x6xi4>) -> tensor<4x6xi4>
  return
}

// -----

func.func @packed_gather(%x: tensor<4x6xi4>, %i: tensor<2xi64>) {
  // expected-error @+1 {{'dlc.gather' op C3: 4-bit integers are gathered by whole rows; required: an axis before the last; found 1; cast 'x' to 8 bits}}
  %0 = dlc.gather 1 %x, %i : (tensor<4x6xi4>, tensor<2xi64>) -> tensor<4x2xi4>
  return
}
