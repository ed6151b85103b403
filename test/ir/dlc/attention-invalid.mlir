// Attention: one test per constraint, and the inferred types.
// RUN: dlc-opt %s -verify-diagnostics=only-expected -split-input-file

func.func @c1(%q: tensor<5x16xf32>, %k: tensor<7x16xf32>, %v: tensor<7x32xf32>) {
  // expected-error @+1 {{'dlc.attention' op C1: ranks must be 3 or more; 'q' is [5, 16]; reshape it to [batch.., T, D]}}
  %0 = dlc.attention %q, %k, %v {scale = 2.500000e-01 : f64} : (tensor<5x16xf32>, tensor<7x16xf32>, tensor<7x32xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @c1_rank(%q: tensor<2x8x5x16xf32>, %k: tensor<8x7x16xf32>, %v: tensor<2x8x7x32xf32>) {
  // expected-error @+1 {{'dlc.attention' op C1: ranks must agree; 'q' has rank 4, 'k' rank 3; reshape one}}
  %0 = dlc.attention %q, %k, %v {scale = 2.500000e-01 : f64} : (tensor<2x8x5x16xf32>, tensor<8x7x16xf32>, tensor<2x8x7x32xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @c1_batch(%q: tensor<2x8x5x16xf32>, %k: tensor<2x8x7x16xf32>, %v: tensor<2x4x7x32xf32>) {
  // expected-error @+1 {{'dlc.attention' op C1: the batch dimensions must agree; dimension 1 is 8 in 'q' and 4 in 'v'; broadcast one}}
  %0 = dlc.attention %q, %k, %v {scale = 2.500000e-01 : f64} : (tensor<2x8x5x16xf32>, tensor<2x8x7x16xf32>, tensor<2x4x7x32xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @c2_d(%q: tensor<2x8x5x16xf32>, %k: tensor<2x8x7x15xf32>, %v: tensor<2x8x7x32xf32>) {
  // expected-error @+1 {{'dlc.attention' op C2: q and k must agree in D, the last dimension; found 16 and 15; correct one of the shapes}}
  %0 = dlc.attention %q, %k, %v {scale = 2.500000e-01 : f64} : (tensor<2x8x5x16xf32>, tensor<2x8x7x15xf32>, tensor<2x8x7x32xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @c2_s(%q: tensor<2x8x5x16xf32>, %k: tensor<2x8x7x16xf32>, %v: tensor<2x8x6x32xf32>) {
  // expected-error @+1 {{'dlc.attention' op C2: k and v must agree in S, the last dimension but one; found 7 and 6; correct one of the shapes}}
  %0 = dlc.attention %q, %k, %v {scale = 2.500000e-01 : f64} : (tensor<2x8x5x16xf32>, tensor<2x8x7x16xf32>, tensor<2x8x6x32xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @c3(%q: tensor<2x8x5x16xf32>, %k: tensor<2x8x7x16xf32>, %v: tensor<2x8x7x32xf32>, %m: tensor<5x7xf16>) {
  // expected-error @+1 {{'dlc.attention' op C3: 'mask' must be bool or have q's element type; found 'f16'; convert it with dlc.cast}}
  %0 = dlc.attention %q, %k, %v, %m {scale = 2.500000e-01 : f64} : (tensor<2x8x5x16xf32>, tensor<2x8x7x16xf32>, tensor<2x8x7x32xf32>, tensor<5x7xf16>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @c3_shape(%q: tensor<2x8x5x16xf32>, %k: tensor<2x8x7x16xf32>, %v: tensor<2x8x7x32xf32>, %m: tensor<7x5xi1>) {
  // expected-error @+1 {{'dlc.attention' op C3: 'mask' must broadcast to [2, 8, 5, 7]; found [7, 5]; correct the shape}}
  %0 = dlc.attention %q, %k, %v, %m {scale = 2.500000e-01 : f64} : (tensor<2x8x5x16xf32>, tensor<2x8x7x16xf32>, tensor<2x8x7x32xf32>, tensor<7x5xi1>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @c4(%q: tensor<2x8x5x16xf32>, %k: tensor<2x8x7x16xf32>, %v: tensor<2x8x7x32xbf16>) {
  // expected-error @+1 {{'dlc.attention' op C4: element types must agree; 'q' has 'f32', 'v' has 'bf16'}}
  %0 = dlc.attention %q, %k, %v {scale = 2.500000e-01 : f64} : (tensor<2x8x5x16xf32>, tensor<2x8x7x16xf32>, tensor<2x8x7x32xbf16>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @c4_device(%q: tensor<2x5x16xf32, #dlc.on<cpu>>, %k: tensor<2x7x16xf32, #dlc.on<cpu>>, %v: tensor<2x7x32xf32, #dlc.on<cuda:0>>) {
  // expected-error @+1 {{'dlc.attention' op C4: operands must be on one device; 'q' is on cpu, 'v' on cuda:0}}
  %0 = dlc.attention %q, %k, %v {scale = 2.500000e-01 : f64} : (tensor<2x5x16xf32, #dlc.on<cpu>>, tensor<2x7x16xf32, #dlc.on<cpu>>, tensor<2x7x32xf32, #dlc.on<cuda:0>>) -> tensor<?x?x?xf32, #dlc.on<cpu>>
  return
}

// -----

func.func @inferred(%q: tensor<?x?x16xf32>, %k: tensor<2x?x16xf32>, %v: tensor<2x7x32xf32>) {
  // expected-error @+1 {{'dlc.attention' op inferred type(s) 'tensor<2x?x32xf32>' are incompatible with return type(s) of operation 'tensor<f32>'}}
  %0 = dlc.attention %q, %k, %v {scale = 2.500000e-01 : f64} : (tensor<?x?x16xf32>, tensor<2x?x16xf32>, tensor<2x7x32xf32>) -> tensor<f32>
  return
}

// -----

func.func @grad_c5(%q: tensor<2x5x16xf32>, %k: tensor<2x7x16xf32>, %v: tensor<2x7x8xf32>, %y: tensor<2x5x9xf32>, %l: tensor<2x5xf32>, %dy: tensor<2x5x8xf32>) {
  // expected-error @+1 {{'dlc.attention_grad' op C5: 'y' must be [.., T, E], here [2, 5, 8]; found [2, 5, 9]; correct the shape}}
  %0:3 = dlc.attention_grad %q, %k, %v, %y, %l, %dy {scale = 2.500000e-01 : f64} : (tensor<2x5x16xf32>, tensor<2x7x16xf32>, tensor<2x7x8xf32>, tensor<2x5x9xf32>, tensor<2x5xf32>, tensor<2x5x8xf32>) -> (tensor<2x5x16xf32>, tensor<2x7x16xf32>, tensor<2x7x8xf32>)
  return
}

// -----

func.func @grad_c5_dy(%q: tensor<2x5x16xf32>, %k: tensor<2x7x16xf32>, %v: tensor<2x7x8xf32>, %y: tensor<2x5x8xf32>, %l: tensor<2x5xf32>, %dy: tensor<2x6x8xf32>) {
  // expected-error @+1 {{'dlc.attention_grad' op C5: 'dy' must be [.., T, E], here [2, 5, 8]; found [2, 6, 8]; correct the shape}}
  %0:3 = dlc.attention_grad %q, %k, %v, %y, %l, %dy {scale = 2.500000e-01 : f64} : (tensor<2x5x16xf32>, tensor<2x7x16xf32>, tensor<2x7x8xf32>, tensor<2x5x8xf32>, tensor<2x5xf32>, tensor<2x6x8xf32>) -> (tensor<2x5x16xf32>, tensor<2x7x16xf32>, tensor<2x7x8xf32>)
  return
}

// -----

func.func @grad_c6(%q: tensor<2x5x16xf32>, %k: tensor<2x7x16xf32>, %v: tensor<2x7x8xf32>, %y: tensor<2x5x8xf32>, %l: tensor<2x7xf32>, %dy: tensor<2x5x8xf32>) {
  // expected-error @+1 {{'dlc.attention_grad' op C6: 'lse' must be [.., T], here [2, 5]; found [2, 7]; correct the shape}}
  %0:3 = dlc.attention_grad %q, %k, %v, %y, %l, %dy {scale = 2.500000e-01 : f64} : (tensor<2x5x16xf32>, tensor<2x7x16xf32>, tensor<2x7x8xf32>, tensor<2x5x8xf32>, tensor<2x7xf32>, tensor<2x5x8xf32>) -> (tensor<2x5x16xf32>, tensor<2x7x16xf32>, tensor<2x7x8xf32>)
  return
}

// -----

func.func @grad_c6_type(%q: tensor<2x5x16xf32>, %k: tensor<2x7x16xf32>, %v: tensor<2x7x8xf32>, %y: tensor<2x5x8xf32>, %l: tensor<2x5xf64>, %dy: tensor<2x5x8xf32>) {
  // expected-error @+1 {{'dlc.attention_grad' op C6: 'lse' must be of 'f32'; found 'f64'; take attention_train's}}
  %0:3 = dlc.attention_grad %q, %k, %v, %y, %l, %dy {scale = 2.500000e-01 : f64} : (tensor<2x5x16xf32>, tensor<2x7x16xf32>, tensor<2x7x8xf32>, tensor<2x5x8xf32>, tensor<2x5xf64>, tensor<2x5x8xf32>) -> (tensor<2x5x16xf32>, tensor<2x7x16xf32>, tensor<2x7x8xf32>)
  return
}

// -----

func.func @train_c2(%q: tensor<2x5x16xf32>, %k: tensor<2x7x15xf32>, %v: tensor<2x7x8xf32>) {
  // expected-error @+1 {{'dlc.attention_train' op C2: q and k must agree in D, the last dimension; found 16 and 15; correct one of the shapes}}
  %0:2 = dlc.attention_train %q, %k, %v {scale = 2.500000e-01 : f64} : (tensor<2x5x16xf32>, tensor<2x7x15xf32>, tensor<2x7x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5xf32>)
  return
}
