// Constants and operations that move elements: one test per constraint, and the inferred types.
// RUN: dlc-opt %s -verify-diagnostics=only-expected -split-input-file

func.func @iota_c1() {
  // expected-error @+1 {{'dlc.iota' op C1: the axis must be a dimension of the result; found 2 for rank 2; give 0 to rank - 1}}
  %0 = dlc.iota 2 : tensor<2x3xi64>
  return
}

// -----

func.func @iota_c1_negative() {
  // expected-error @+1 {{'dlc.iota' op C1: the axis must be a dimension of the result; found -1 for rank 2}}
  %0 = dlc.iota -1 : tensor<2x3xi64>
  return
}

// -----

func.func @reshape_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'dlc.reshape' op C1: the number of elements must not change; found [2, 3] to [7]; correct the shape}}
  %0 = dlc.reshape %x : (tensor<2x3xf32>) -> tensor<7xf32>
  return
}

// -----

func.func @reshape_c2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'dlc.reshape' op C2: the element type must not change; found 'f32' to 'f16'; convert with dlc.cast}}
  %0 = dlc.reshape %x : (tensor<2x3xf32>) -> tensor<6xf16>
  return
}

// -----

func.func @reshape_c2_device(%x: tensor<6xf32, #dlc.on<cpu>>) {
  // expected-error @+1 {{'dlc.reshape' op C2: the device must not change; found cpu to cuda:0; move with dlc.transfer}}
  %0 = dlc.reshape %x : (tensor<6xf32, #dlc.on<cpu>>) -> tensor<2x3xf32, #dlc.on<cuda:0>>
  return
}

// -----

func.func @transpose_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'dlc.transpose' op C1: `permutation` must hold each of the 2 dimensions once; found [0, 0]; correct it}}
  %0 = dlc.transpose %x [0, 0] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @transpose_c1_size(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'dlc.transpose' op C1: `permutation` must hold each of the 2 dimensions once; found [0]}}
  %0 = dlc.transpose %x [0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @transpose_c1_range(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'dlc.transpose' op C1: `permutation` must hold each of the 2 dimensions once; found [0, 2]}}
  %0 = dlc.transpose %x [0, 2] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_c1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{'dlc.broadcast' op C1: the operand's shape must broadcast to the result's; found [2, 3] to [2, 4]}}
  %0 = dlc.broadcast %x : (tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @broadcast_c1_rank(%x: tensor<1x3xf32>) {
  // expected-error @+1 {{'dlc.broadcast' op C1: the operand's shape must broadcast to the result's; found [1, 3] to [3]}}
  %0 = dlc.broadcast %x : (tensor<1x3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @broadcast_c2(%x: tensor<3xf32>) {
  // expected-error @+1 {{'dlc.broadcast' op C2: the element type must not change; found 'f32' to 'f64'}}
  %0 = dlc.broadcast %x : (tensor<3xf32>) -> tensor<2x3xf64>
  return
}

// -----

func.func @slice_c1(%x: tensor<8x10xf32>) {
  // expected-error @+1 {{'dlc.slice' op C1: `start` must have 2 entries; found 1; give one per dimension that it speaks of}}
  %0 = dlc.slice %x start [0] size [8, 10] stride [1, 1] : (tensor<8x10xf32>) -> tensor<8x10xf32>
  return
}

// -----

func.func @slice_c2_stride(%x: tensor<8xf32>) {
  // expected-error @+1 {{'dlc.slice' op C2: strides must not be zero; found 0 in dimension 0; give 1 to take every element}}
  %0 = dlc.slice %x start [0] size [2] stride [0] : (tensor<8xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @slice_c2_inside(%x: tensor<8xf32>) {
  // expected-error @+1 {{'dlc.slice' op C2: all selected elements must be inside the operand; found start 3, size 4, stride 2 in dimension 0 of size 8; take fewer or begin elsewhere}}
  %0 = dlc.slice %x start [3] size [4] stride [2] : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @slice_c2_backwards(%x: tensor<?xf32>) {
  // expected-error @+1 {{'dlc.slice' op C2: all selected elements must be inside the operand; found start 3, size 5, stride -1 in dimension 0 of size ?}}
  %0 = dlc.slice %x start [3] size [5] stride [-1] : (tensor<?xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @slice_c2_size(%x: tensor<8xf32>) {
  // expected-error @+1 {{'dlc.slice' op C2: sizes must be 0 or more; found -1 in dimension 0}}
  %0 = dlc.slice %x start [3] size [-1] stride [1] : (tensor<8xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @pad_c1(%x: tensor<4x5xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'dlc.pad' op C1: `high` must have 2 entries; found 1}}
  %0 = dlc.pad constant %x, %v low [1, 2] high [1] : (tensor<4x5xf32>, tensor<f32>) -> tensor<6x9xf32>
  return
}

// -----

func.func @pad_c2_rank(%x: tensor<4xf32>, %v: tensor<1xf32>) {
  // expected-error @+1 {{'dlc.pad' op C2: 'value' must be 0-d; found [1]; reshape it to []}}
  %0 = dlc.pad constant %x, %v low [1] high [1] : (tensor<4xf32>, tensor<1xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @pad_c2_element(%x: tensor<4xf32>, %v: tensor<f64>) {
  // expected-error @+1 {{'dlc.pad' op C2: element types must agree; 'x' has 'f32', 'value' has 'f64'}}
  %0 = dlc.pad constant %x, %v low [1] high [1] : (tensor<4xf32>, tensor<f64>) -> tensor<6xf32>
  return
}

// -----

func.func @pad_c3(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'dlc.pad' op C3: no dimension of the result may be negative; dimension 0 of size 4 is padded by -3 and -2; remove less}}
  %0 = dlc.pad constant %x, %v low [-3] high [-2] : (tensor<4xf32>, tensor<f32>) -> tensor<?xf32>
  return
}

// -----

func.func @pad_c3_reflect(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'dlc.pad' op C3: the mode reflect requires padding smaller than the dimension; dimension 0 of size 4 is padded by 4 and 0; pad less}}
  %0 = dlc.pad reflect %x, %v low [4] high [0] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @pad_c3_empty(%x: tensor<0xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'dlc.pad' op C3: an empty dimension has no elements to repeat; dimension 0 has size 0; pad with a constant}}
  %0 = dlc.pad edge %x, %v low [4] high [0] : (tensor<0xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @pad_overflow(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'dlc.pad' op C3: no dimension of the result may be negative}}
  %0 = dlc.pad constant %x, %v low [9223372036854775807] high [0] : (tensor<4xf32>, tensor<f32>) -> tensor<?xf32>
  return
}

// -----

func.func @concat_c1(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{'dlc.concat' op C1: the axis must be a dimension of 'xs[0]'; found 2 for rank 2}}
  %0 = dlc.concat 2(%x, %x) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x10xf32>
  return
}

// -----

func.func @concat_c1_rank(%x: tensor<4x5xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{'dlc.concat' op C1: all ranks must agree; 'xs[0]' has rank 2, 'xs[1]' rank 1; reshape one}}
  %0 = dlc.concat 0(%x, %y) : (tensor<4x5xf32>, tensor<5xf32>) -> tensor<5x5xf32>
  return
}

// -----

func.func @concat_c1_none() {
  // expected-error @+1 {{'dlc.concat' op C1: required: at least one operand; found none}}
  %0 = dlc.concat 0() : () -> tensor<4x10xf32>
  return
}

// -----

func.func @concat_c2(%x: tensor<4x5xf32>, %y: tensor<4x6xf32>) {
  // expected-error @+1 {{'dlc.concat' op C2: dimensions other than the axis must agree; dimension 1 is 5 in 'xs[0]' and 6 in 'xs[1]'; correct one of the shapes}}
  %0 = dlc.concat 0(%x, %y) : (tensor<4x5xf32>, tensor<4x6xf32>) -> tensor<8x5xf32>
  return
}

// -----

func.func @concat_c3(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error @+1 {{'dlc.concat' op C3: element types must agree; 'xs[0]' has 'f32', 'xs[1]' has 'i32'}}
  %0 = dlc.concat 0(%x, %y) : (tensor<4xf32>, tensor<4xi32>) -> tensor<8xf32>
  return
}

// -----

func.func @concat_c3_device(%x: tensor<4xf32, #dlc.on<cpu>>, %y: tensor<4xf32, #dlc.on<cpu:1>>) {
  // expected-error @+1 {{'dlc.concat' op C3: operands must be on one device; 'xs[0]' is on cpu, 'xs[1]' on cpu:1}}
  %0 = dlc.concat 0(%x, %y) : (tensor<4xf32, #dlc.on<cpu>>, tensor<4xf32, #dlc.on<cpu:1>>) -> tensor<8xf32, #dlc.on<cpu>>
  return
}

// -----

func.func @inferred_transpose(%x: tensor<2x?x3xf32, #dlc.on<cpu, aBc8b>>) {
  // expected-error @+1 {{'dlc.transpose' op inferred type(s) 'tensor<3x2x?xf32, #dlc.on<cpu>>' are incompatible with return type(s) of operation 'tensor<f32>'}}
  %0 = dlc.transpose %x [2, 0, 1] : (tensor<2x?x3xf32, #dlc.on<cpu, aBc8b>>) -> tensor<f32>
  return
}

// -----

func.func @inferred_pad(%x: tensor<?x2xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'dlc.pad' op inferred type(s) 'tensor<?x5xf32>' are incompatible with return type(s) of operation 'tensor<f32>'}}
  %0 = dlc.pad edge %x, %v low [1, 1] high [2, 2] : (tensor<?x2xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @inferred_concat(%x: tensor<?x2xf32>, %y: tensor<3x?xf32>) {
  // expected-error @+1 {{'dlc.concat' op inferred type(s) 'tensor<?x2xf32>' are incompatible with return type(s) of operation 'tensor<f32>'}}
  %0 = dlc.concat 0(%x, %y) : (tensor<?x2xf32>, tensor<3x?xf32>) -> tensor<f32>
  return
}
