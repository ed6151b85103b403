// Elementwise operations: one test per constraint, and the inferred types.
// RUN: dlc-opt %s -verify-diagnostics=only-expected -split-input-file

func.func @c1(%a: tensor<4xf32>, %b: tensor<4xf16>) {
  // expected-error @+1 {{'dlc.add' op C1: element types must agree; 'a' has 'f32', 'b' has 'f16'; convert one with dlc.cast}}
  %0 = dlc.add %a, %b : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @c1_compare(%a: tensor<4xf32>, %b: tensor<4xf16>) {
  // expected-error @+1 {{'dlc.compare' op C1: element types must agree}}
  %0 = dlc.compare eq %a, %b : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xi1>
  return
}

// -----

func.func @c1_select(%c: tensor<4xi1>, %a: tensor<4xf32>, %b: tensor<4xf16>) {
  // expected-error @+1 {{'dlc.select' op C1: element types must agree; 'a' has 'f32', 'b' has 'f16'}}
  %0 = dlc.select %c, %a, %b : (tensor<4xi1>, tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @c1_rem(%a: tensor<4xi32>, %b: tensor<4xi64>) {
  // expected-error @+1 {{'dlc.rem' op C1: element types must agree}}
  %0 = dlc.rem %a, %b : (tensor<4xi32>, tensor<4xi64>) -> tensor<4xi32>
  return
}

// -----

func.func @c2(%a: tensor<4xf32, #dlc.on<cuda:0>>, %b: tensor<4xf32, #dlc.on<cpu>>) {
  // expected-error @+1 {{'dlc.add' op C2: operands must be on one device; 'a' is on cuda:0, 'b' on cpu; move one with dlc.transfer}}
  %0 = dlc.add %a, %b : (tensor<4xf32, #dlc.on<cuda:0>>, tensor<4xf32, #dlc.on<cpu>>) -> tensor<4xf32, #dlc.on<cuda:0>>
  return
}

// -----

func.func @c2_unplaced(%a: tensor<4xf32, #dlc.on<cpu:1>>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.pow' op C2: operands must be on one device; 'a' is on cpu:1, 'b' unplaced; move one with dlc.transfer}}
  %0 = dlc.pow %a, %b : (tensor<4xf32, #dlc.on<cpu:1>>, tensor<4xf32>) -> tensor<4xf32, #dlc.on<cpu:1>>
  return
}

// -----

func.func @c3(%a: tensor<2x4xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{'dlc.add' op C3: shapes must broadcast together; found 4 against 3 in dimension 1 of 'a' [2, 4], 'b' [3]; make the sizes equal, or one of them 1}}
  %0 = dlc.add %a, %b : (tensor<2x4xf32>, tensor<3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @c3_select(%c: tensor<2xi1>, %a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.select' op C3: shapes must broadcast together; found 2 against 4 in dimension 0}}
  %0 = dlc.select %c, %a, %b : (tensor<2xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @beyond_memory(%a: tensor<4194304x1x4194304xf32>, %b: tensor<4194304x1xf32>) {
  // expected-error @+1 {{'dlc.add' op gives a result of shape [4194304, 4194304, 4194304], which no memory holds}}
  %0 = dlc.add %a, %b : (tensor<4194304x1x4194304xf32>, tensor<4194304x1xf32>) -> tensor<?x?x?xf32>
  return
}

// -----

func.func @float_only(%a: tensor<4xi32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of f16, bf16, f32 or f64 values, but got 'tensor<4xi32>'}}
  %0 = dlc.exp %a : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @inferred(%x: tensor<?x1x4xf32>, %y: tensor<3x?xf32>) {
  // expected-error @+1 {{'dlc.add' op inferred type(s) 'tensor<?x3x4xf32>' are incompatible with return type(s) of operation 'tensor<4xf32>'}}
  %0 = dlc.add %x, %y : (tensor<?x1x4xf32>, tensor<3x?xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @inferred_layout(%x: tensor<8x16xf32, #dlc.on<cpu, aB8b>>, %y: tensor<16xf32, #dlc.on<cpu>>) {
  // expected-error @+1 {{'dlc.compare' op inferred type(s) 'tensor<8x16xi1, #dlc.on<cpu, aB8b>>' are incompatible with return type(s) of operation 'tensor<8x16xi1>'}}
  %0 = dlc.compare lt %x, %y : (tensor<8x16xf32, #dlc.on<cpu, aB8b>>, tensor<16xf32, #dlc.on<cpu>>) -> tensor<8x16xi1>
  return
}

// -----

func.func @wide_index(%x: tensor<4xi32>) {
  // expected-error @+1 {{'dlc.lookup' op C1: 'x' must have 8 bits, found 'i32'; cast it to ui8}}
  %0 = dlc.lookup %x in dense<1> : tensor<256xui8> : (tensor<4xi32>) -> tensor<4xui8>
  return
}

// -----

func.func @short_table(%x: tensor<4xui8>) {
  // expected-error @+1 {{'dlc.lookup' op C2: the table must be 256 integers of 8 bits, found 'tensor<255xui8>'}}
  %0 = dlc.lookup %x in dense<1> : tensor<255xui8> : (tensor<4xui8>) -> tensor<4xui8>
  return
}
