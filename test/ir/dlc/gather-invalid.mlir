// Gathers and scatters: one test per constraint, and the inferred types.
// RUN: dlc-opt %s -verify-diagnostics=only-expected -split-input-file

func.func @gather_c1(%x: tensor<5x6xf32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{'dlc.gather' op C1: the axis must be a dimension of 'x'; found 2 for rank 2; give 0 to rank - 1}}
  %0 = dlc.gather 2 %x, %i : (tensor<5x6xf32>, tensor<2xi64>) -> tensor<5x2xf32>
  return
}

// -----

func.func @gather_c2(%x: tensor<5x6xf32, #dlc.on<cpu>>, %i: tensor<5x6xi64, #dlc.on<cpu:1>>) {
  // expected-error @+1 {{'dlc.gather' op C2: operands must be on one device; 'x' is on cpu, 'indices' on cpu:1}}
  %0 = dlc.gather 0 %x, %i : (tensor<5x6xf32, #dlc.on<cpu>>, tensor<5x6xi64, #dlc.on<cpu:1>>) -> tensor<5x6x6xf32, #dlc.on<cpu>>
  return
}

// -----

func.func @gather_index_type(%x: tensor<5x6xf32>, %i: tensor<2xf32>) {
  // expected-error @+1 {{operand #1 must be ranked tensor of i32 or i64 values}}
  %0 = dlc.gather 0 %x, %i : (tensor<5x6xf32>, tensor<2xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @gather_elements_c1(%x: tensor<5x6xf32>, %i: tensor<5x9xi64>) {
  // expected-error @+1 {{'dlc.gather_elements' op C1: the axis must be a dimension of 'x'; found -1 for rank 2}}
  %0 = dlc.gather_elements -1 %x, %i : (tensor<5x6xf32>, tensor<5x9xi64>) -> tensor<5x9xf32>
  return
}

// -----

func.func @gather_elements_c1_rank(%x: tensor<5x6xf32>, %i: tensor<5xi64>) {
  // expected-error @+1 {{'dlc.gather_elements' op C1: both ranks must agree; 'x' has rank 2, 'indices' rank 1; reshape one}}
  %0 = dlc.gather_elements 0 %x, %i : (tensor<5x6xf32>, tensor<5xi64>) -> tensor<5xf32>
  return
}

// -----

func.func @gather_elements_c2(%x: tensor<5x6xf32>, %i: tensor<6x6xi64>) {
  // expected-error @+1 {{'dlc.gather_elements' op C2: except along the axis, no dimension of 'indices' may be larger than that of 'x'; dimension 0 is 6 against 5; correct the shape}}
  %0 = dlc.gather_elements 1 %x, %i : (tensor<5x6xf32>, tensor<6x6xi64>) -> tensor<6x6xf32>
  return
}

// -----

func.func @gather_elements_c3(%x: tensor<5x6xf32, #dlc.on<cpu>>, %i: tensor<5x6xi64, #dlc.on<cpu:1>>) {
  // expected-error @+1 {{'dlc.gather_elements' op C3: operands must be on one device}}
  %0 = dlc.gather_elements 0 %x, %i : (tensor<5x6xf32, #dlc.on<cpu>>, tensor<5x6xi64, #dlc.on<cpu:1>>) -> tensor<5x6xf32, #dlc.on<cpu>>
  return
}

// -----

func.func @gather_nd_c1(%x: tensor<5x6xf32>, %i: tensor<4x1xi64>) {
  // expected-error @+1 {{'dlc.gather_nd' op C1: the first `batch_dims` dimensions must agree; dimension 0 is 5 in 'x' and 4 in 'indices'; correct one of the shapes}}
  %0 = dlc.gather_nd %x, %i {batch_dims = 1 : i64} : (tensor<5x6xf32>, tensor<4x1xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @gather_nd_c1_many(%x: tensor<5x6xf32>, %i: tensor<5x1xi64>) {
  // expected-error @+1 {{'dlc.gather_nd' op C1: `batch_dims` must be at most the rank of 'x' and less than the rank of 'indices'; found 2 for ranks 2 and 2}}
  %0 = dlc.gather_nd %x, %i {batch_dims = 2 : i64} : (tensor<5x6xf32>, tensor<5x1xi64>) -> tensor<5xf32>
  return
}

// -----

func.func @gather_nd_c2(%x: tensor<5x6xf32>, %i: tensor<4x3xi64>) {
  // expected-error @+1 {{'dlc.gather_nd' op C2: the tuple must have a static length of at most 2; found 3; correct the last dimension of 'indices'}}
  %0 = dlc.gather_nd %x, %i {batch_dims = 0 : i64} : (tensor<5x6xf32>, tensor<4x3xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @gather_nd_c2_dynamic(%x: tensor<5x6xf32>, %i: tensor<4x?xi64>) {
  // expected-error @+1 {{'dlc.gather_nd' op C2: the tuple must have a static length of at most 2; found ?}}
  %0 = dlc.gather_nd %x, %i {batch_dims = 0 : i64} : (tensor<5x6xf32>, tensor<4x?xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @gather_nd_c3(%x: tensor<5x6xf32, #dlc.on<cpu>>, %i: tensor<4x1xi64, #dlc.on<cpu:1>>) {
  // expected-error @+1 {{'dlc.gather_nd' op C3: operands must be on one device}}
  %0 = dlc.gather_nd %x, %i {batch_dims = 0 : i64} : (tensor<5x6xf32, #dlc.on<cpu>>, tensor<4x1xi64, #dlc.on<cpu:1>>) -> tensor<4x6xf32, #dlc.on<cpu>>
  return
}

// -----

func.func @scatter_elements_c1(%x: tensor<5x6xf32>, %i: tensor<2x6xi64>, %u: tensor<2x6xf32>) {
  // expected-error @+1 {{'dlc.scatter_elements' op C1: the axis must be a dimension of 'x'; found 3 for rank 2}}
  %0 = dlc.scatter_elements none 3 %x, %i, %u : (tensor<5x6xf32>, tensor<2x6xi64>, tensor<2x6xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @scatter_elements_c1_rank(%x: tensor<5x6xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) {
  // expected-error @+1 {{'dlc.scatter_elements' op C1: all ranks must agree; 'x' has rank 2, 'indices' rank 1; reshape one}}
  %0 = dlc.scatter_elements none 0 %x, %i, %u : (tensor<5x6xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @scatter_elements_c2(%x: tensor<5x6xf32>, %i: tensor<2x6xi64>, %u: tensor<3x6xf32>) {
  // expected-error @+1 {{'dlc.scatter_elements' op C2: 'updates' must be of the indices' shape, here [2, 6]; found [3, 6]; correct the shape}}
  %0 = dlc.scatter_elements none 0 %x, %i, %u : (tensor<5x6xf32>, tensor<2x6xi64>, tensor<3x6xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @scatter_elements_c2_element(%x: tensor<5x6xf32>, %i: tensor<2x6xi64>, %u: tensor<2x6xf16>) {
  // expected-error @+1 {{'dlc.scatter_elements' op C2: element types must agree; 'x' has 'f32', 'updates' has 'f16'}}
  %0 = dlc.scatter_elements none 0 %x, %i, %u : (tensor<5x6xf32>, tensor<2x6xi64>, tensor<2x6xf16>) -> tensor<5x6xf32>
  return
}

// -----

func.func @scatter_elements_c3(%x: tensor<5x6xf32, #dlc.on<cpu>>, %i: tensor<5x6xi64, #dlc.on<cpu:1>>, %u: tensor<5x6xf32, #dlc.on<cpu>>) {
  // expected-error @+1 {{'dlc.scatter_elements' op C3: operands must be on one device; 'x' is on cpu, 'indices' on cpu:1}}
  %0 = dlc.scatter_elements none 0 %x, %i, %u : (tensor<5x6xf32, #dlc.on<cpu>>, tensor<5x6xi64, #dlc.on<cpu:1>>, tensor<5x6xf32, #dlc.on<cpu>>) -> tensor<5x6xf32, #dlc.on<cpu>>
  return
}

// -----

func.func @scatter_nd_c1(%x: tensor<5x6xf32>, %i: tensor<3x1xi64>, %u: tensor<3x5xf32>) {
  // expected-error @+1 {{'dlc.scatter_nd' op C1: 'updates' must be of the shape that the indices and x give, here [3, 6]; found [3, 5]; correct the shape}}
  %0 = dlc.scatter_nd none %x, %i, %u : (tensor<5x6xf32>, tensor<3x1xi64>, tensor<3x5xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @scatter_nd_c1_tuple(%x: tensor<5x6xf32>, %i: tensor<3x4xi64>, %u: tensor<3xf32>) {
  // expected-error @+1 {{'dlc.scatter_nd' op C1: the last dimension of 'indices' must be static and at most x's rank 2; found [3, 4]; correct the shape}}
  %0 = dlc.scatter_nd none %x, %i, %u : (tensor<5x6xf32>, tensor<3x4xi64>, tensor<3xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @scatter_nd_c2(%x: tensor<5x6xf32>, %i: tensor<3x1xi64>, %u: tensor<3x6xf64>) {
  // expected-error @+1 {{'dlc.scatter_nd' op C2: element types must agree; 'x' has 'f32', 'updates' has 'f64'}}
  %0 = dlc.scatter_nd none %x, %i, %u : (tensor<5x6xf32>, tensor<3x1xi64>, tensor<3x6xf64>) -> tensor<5x6xf32>
  return
}

// -----

func.func @scatter_nd_c3(%x: tensor<5x6xf32, #dlc.on<cpu>>, %i: tensor<3x1xi64, #dlc.on<cpu>>, %u: tensor<3x6xf32, #dlc.on<cpu:2>>) {
  // expected-error @+1 {{'dlc.scatter_nd' op C3: operands must be on one device; 'x' is on cpu, 'updates' on cpu:2}}
  %0 = dlc.scatter_nd none %x, %i, %u : (tensor<5x6xf32, #dlc.on<cpu>>, tensor<3x1xi64, #dlc.on<cpu>>, tensor<3x6xf32, #dlc.on<cpu:2>>) -> tensor<5x6xf32, #dlc.on<cpu>>
  return
}

// -----

func.func @inferred(%x: tensor<5x?x7xf32>, %i: tensor<?x3xi64>) {
  // expected-error @+1 {{'dlc.gather' op inferred type(s) 'tensor<5x?x?x3xf32>' are incompatible with return type(s) of operation 'tensor<f32>'}}
  %0 = dlc.gather 2 %x, %i : (tensor<5x?x7xf32>, tensor<?x3xi64>) -> tensor<f32>
  return
}
