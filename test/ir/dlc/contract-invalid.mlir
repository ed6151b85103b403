// Matmuls: one test per constraint, and the inferred types.
// RUN: dlc-opt %s -verify-diagnostics=only-expected -split-input-file

func.func @c1(%a: tensor<3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{'dlc.matmul' op C1: both ranks must be 2 or more; found 1 and 2; reshape a vector to a matrix of one row or column}}
  %0 = dlc.matmul %a, %b : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @c2(%a: tensor<2x64xf32>, %b: tensor<32x4xf32>) {
  // expected-error @+1 {{'dlc.matmul' op C2: the contracted dimensions must agree; found 64 in 'a' and 32 in 'b'; transpose one operand or correct the shape}}
  %0 = dlc.matmul %a, %b : (tensor<2x64xf32>, tensor<32x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @c2_transposed(%a: tensor<2x64xf32>, %b: tensor<64x4xf32>) {
  // expected-error @+1 {{'dlc.matmul' op C2: the contracted dimensions must agree; found 2 in 'a' and 64 in 'b'}}
  %0 = dlc.matmul %a, %b transpose_a : (tensor<2x64xf32>, tensor<64x4xf32>) -> tensor<64x4xf32>
  return
}

// -----

func.func @c3(%a: tensor<2x3x4xf32>, %b: tensor<5x4x3xf32>) {
  // expected-error @+1 {{'dlc.matmul' op C3: the batch dimensions must broadcast together; found [2] in 'a' and [5] in 'b'; make them equal, or 1}}
  %0 = dlc.matmul %a, %b : (tensor<2x3x4xf32>, tensor<5x4x3xf32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @c4(%a: tensor<3x4xf32>, %b: tensor<4x3xbf16>) {
  // expected-error @+1 {{'dlc.matmul' op C4: element types must agree; 'a' has 'f32', 'b' has 'bf16'; convert one with dlc.cast}}
  %0 = dlc.matmul %a, %b : (tensor<3x4xf32>, tensor<4x3xbf16>) -> tensor<3x3xf32>
  return
}

// -----

func.func @c4_device(%a: tensor<3x4xf32, #dlc.on<cpu>>, %b: tensor<4x3xf32, #dlc.on<cuda:1>>) {
  // expected-error @+1 {{'dlc.matmul' op C4: operands must be on one device; 'a' is on cpu, 'b' on cuda:1; move one with dlc.transfer}}
  %0 = dlc.matmul %a, %b : (tensor<3x4xf32, #dlc.on<cpu>>, tensor<4x3xf32, #dlc.on<cuda:1>>) -> tensor<3x3xf32, #dlc.on<cpu>>
  return
}

// -----

func.func @inferred(%a: tensor<?x1x3x2xf32>, %b: tensor<7x3x?xf32>) {
  // expected-error @+1 {{'dlc.matmul' op inferred type(s) 'tensor<?x7x2x?xf32>' are incompatible with return type(s) of operation 'tensor<f32>'}}
  %0 = dlc.matmul %a, %b transpose_a : (tensor<?x1x3x2xf32>, tensor<7x3x?xf32>) -> tensor<f32>
  return
}

// -----

func.func @grouped_c1(%a: tensor<2x5x3xf32>, %b: tensor<2x3x4xf32>, %e: tensor<2xi32>) {
  // expected-error @+1 {{'dlc.grouped_matmul' op C1: 'a' must have rank 2, 'b' rank 3 and 'ends' rank 1; found 3, 3 and 1; join the dimensions of rows with dlc.reshape}}
  %0 = dlc.grouped_matmul %a, %b ends %e : (tensor<2x5x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @grouped_c2(%a: tensor<5x3xf32>, %b: tensor<2x3x4xf32>, %e: tensor<2xi32>) {
  // expected-error @+1 {{'dlc.grouped_matmul' op C2: the contracted dimensions must agree; found 3 in 'a' and 4 in 'b'; set or drop transpose_b, or correct the shape}}
  %0 = dlc.grouped_matmul %a, %b ends %e transpose_b : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @grouped_c3(%a: tensor<5x3xf32>, %b: tensor<2x3x4xf32>, %e: tensor<3xi32>) {
  // expected-error @+1 {{'dlc.grouped_matmul' op C3: 'b' must have a matrix for each of 'ends'; found 2 and 3; give each group an end, where it has no rows too}}
  %0 = dlc.grouped_matmul %a, %b ends %e : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<3xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @grouped_c4(%a: tensor<5x3xf32>, %b: tensor<2x3x4xbf16>, %e: tensor<2xi32>) {
  // expected-error @+1 {{'dlc.grouped_matmul' op C4: element types must agree; 'a' has 'f32', 'b' has 'bf16'; convert one with dlc.cast}}
  %0 = dlc.grouped_matmul %a, %b ends %e : (tensor<5x3xf32>, tensor<2x3x4xbf16>, tensor<2xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @grouped_c4_device(%a: tensor<5x3xf32, #dlc.on<cpu>>, %b: tensor<2x3x4xf32, #dlc.on<cpu>>, %e: tensor<2xi32, #dlc.on<cuda:0>>) {
  // expected-error @+1 {{'dlc.grouped_matmul' op C4: operands must be on one device; 'a' is on cpu, 'ends' on cuda:0; move one with dlc.transfer}}
  %0 = dlc.grouped_matmul %a, %b ends %e : (tensor<5x3xf32, #dlc.on<cpu>>, tensor<2x3x4xf32, #dlc.on<cpu>>, tensor<2xi32, #dlc.on<cuda:0>>) -> tensor<5x4xf32, #dlc.on<cpu>>
  return
}

// -----

func.func @grouped_gradient_c1(%a: tensor<5x3xf32>, %dy: tensor<5x4x1xf32>, %e: tensor<2xi32>) {
  // expected-error @+1 {{'dlc.grouped_weight_grad' op C1: 'a' and 'dy' must have rank 2 and 'ends' rank 1; found 2, 3 and 1; join the dimensions of rows with dlc.reshape}}
  %0 = dlc.grouped_weight_grad %a, %dy ends %e : (tensor<5x3xf32>, tensor<5x4x1xf32>, tensor<2xi32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @grouped_gradient_c2(%a: tensor<5x3xf32>, %dy: tensor<6x4xf32>, %e: tensor<2xi32>) {
  // expected-error @+1 {{'dlc.grouped_weight_grad' op C2: 'a' and 'dy' must have as many rows; found 5 and 6; correct the shape}}
  %0 = dlc.grouped_weight_grad %a, %dy ends %e : (tensor<5x3xf32>, tensor<6x4xf32>, tensor<2xi32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @grouped_gradient_c3(%a: tensor<5x3xf32>, %dy: tensor<5x4xbf16>, %e: tensor<2xi32>) {
  // expected-error @+1 {{'dlc.grouped_weight_grad' op C3: element types must agree; 'a' has 'f32', 'dy' has 'bf16'; convert one with dlc.cast}}
  %0 = dlc.grouped_weight_grad %a, %dy ends %e : (tensor<5x3xf32>, tensor<5x4xbf16>, tensor<2xi32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @grouped_inferred(%a: tensor<?x3xf32>, %b: tensor<2x3x?xf32>, %e: tensor<?xi32>) {
  // expected-error @+1 {{'dlc.grouped_matmul' op inferred type(s) 'tensor<?x?xf32>' are incompatible with return type(s) of operation 'tensor<f32>'}}
  %0 = dlc.grouped_matmul %a, %b ends %e : (tensor<?x3xf32>, tensor<2x3x?xf32>, tensor<?xi32>) -> tensor<f32>
  return
}
