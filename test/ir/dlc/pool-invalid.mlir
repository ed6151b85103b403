// Pooling: one test per constraint, and what is inferred.
// RUN: dlc-opt %s -verify-diagnostics=only-expected -split-input-file

func.func @max_pool_c1(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'dlc.max_pool' op C1: 'x' must be [N, C, spatial..] with at least 1 spatial dimension; found [4, 8]; reshape it}}
  %0 = dlc.max_pool %x {dilations = array<i64>, high = array<i64>, low = array<i64>, strides = array<i64>, window = array<i64>} : (tensor<4x8xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @max_pool_c2(%x: tensor<1x4x8x9xf32>) {
  // expected-error @+1 {{'dlc.max_pool' op C2: `window` must have 2 entries; found 1; give one per dimension that it speaks of}}
  %0 = dlc.max_pool %x {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2>} : (tensor<1x4x8x9xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @max_pool_c2_least(%x: tensor<1x4x8x9xf32>) {
  // expected-error @+1 {{'dlc.max_pool' op C2: the entries of `strides` must be 1 or more; found 0}}
  %0 = dlc.max_pool %x {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 0>, window = array<i64: 2, 2>} : (tensor<1x4x8x9xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @max_pool_c3(%x: tensor<1x4x8x9xf32>) {
  // expected-error @+1 {{'dlc.max_pool' op C3: no dimension of the result may be negative (or beyond 2^46); spatial dimension 0 gives -1 (input 8, padding 0 + 0, window 10, stride 1, dilation 1); pad more or take a smaller window}}
  %0 = dlc.max_pool %x {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>, window = array<i64: 10, 2>} : (tensor<1x4x8x9xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @max_pool_indices_c1(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'dlc.max_pool_indices' op C1: 'x' must be [N, C, spatial..] with at least 1 spatial dimension; found [4, 8]; reshape it}}
  %0:2 = dlc.max_pool_indices %x {dilations = array<i64>, high = array<i64>, low = array<i64>, strides = array<i64>, window = array<i64>} : (tensor<4x8xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?x?xi64>)
  return
}

// -----

func.func @max_pool_indices_c2(%x: tensor<1x4x8x9xf32>) {
  // expected-error @+1 {{'dlc.max_pool_indices' op C2: `window` must have 2 entries; found 1; give one per dimension that it speaks of}}
  %0:2 = dlc.max_pool_indices %x {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2>} : (tensor<1x4x8x9xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?x?xi64>)
  return
}

// -----

func.func @max_pool_indices_c2_least(%x: tensor<1x4x8x9xf32>) {
  // expected-error @+1 {{'dlc.max_pool_indices' op C2: the entries of `strides` must be 1 or more; found 0}}
  %0:2 = dlc.max_pool_indices %x {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 0>, window = array<i64: 2, 2>} : (tensor<1x4x8x9xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?x?xi64>)
  return
}

// -----

func.func @max_pool_indices_c3(%x: tensor<1x4x8x9xf32>) {
  // expected-error @+1 {{'dlc.max_pool_indices' op C3: no dimension of the result may be negative (or beyond 2^46); spatial dimension 0 gives -1 (input 8, padding 0 + 0, window 10, stride 1, dilation 1); pad more or take a smaller window}}
  %0:2 = dlc.max_pool_indices %x {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>, window = array<i64: 10, 2>} : (tensor<1x4x8x9xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?x?xi64>)
  return
}

// -----

func.func @avg_pool_c1(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'dlc.avg_pool' op C1: 'x' must be [N, C, spatial..] with at least 1 spatial dimension; found [4, 8]; reshape it}}
  %0 = dlc.avg_pool %x {counted_high = array<i64: 0, 0>, dilations = array<i64>, high = array<i64>, low = array<i64>, strides = array<i64>, window = array<i64>} : (tensor<4x8xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @avg_pool_c2(%x: tensor<1x4x8x9xf32>) {
  // expected-error @+1 {{'dlc.avg_pool' op C2: `window` must have 2 entries; found 1; give one per dimension that it speaks of}}
  %0 = dlc.avg_pool %x {counted_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2>} : (tensor<1x4x8x9xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @avg_pool_c2_least(%x: tensor<1x4x8x9xf32>) {
  // expected-error @+1 {{'dlc.avg_pool' op C2: the entries of `strides` must be 1 or more; found 0}}
  %0 = dlc.avg_pool %x {counted_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 0>, window = array<i64: 2, 2>} : (tensor<1x4x8x9xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @avg_pool_c3(%x: tensor<1x4x8x9xf32>) {
  // expected-error @+1 {{'dlc.avg_pool' op C3: no dimension of the result may be negative (or beyond 2^46); spatial dimension 0 gives -1 (input 8, padding 0 + 0, window 10, stride 1, dilation 1); pad more or take a smaller window}}
  %0 = dlc.avg_pool %x {counted_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>, window = array<i64: 10, 2>} : (tensor<1x4x8x9xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @avg_pool_c2_counted(%x: tensor<1x4x8x9xf32>) {
  // expected-error @+1 {{'dlc.avg_pool' op C2: `counted_high` must have 2 entries; found 1}}
  %0 = dlc.avg_pool %x {counted_high = array<i64: 0>, dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<1x4x8x9xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @inferred(%x: tensor<1x4x?x9xf32>) {
  // expected-error @+1 {{'dlc.max_pool' op inferred type(s) 'tensor<1x4x?x4xf32>' are incompatible with return type(s) of operation 'tensor<f32>'}}
  %0 = dlc.max_pool %x {dilations = array<i64: 2, 2>, high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 2, 2>, window = array<i64: 3, 3>} : (tensor<1x4x?x9xf32>) -> tensor<f32>
  return
}
