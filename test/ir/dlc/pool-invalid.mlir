// Pooling: one test per constraint, and the inferred types.
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

// -----

func.func @max_pool_positions_c1(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'dlc.max_pool_positions' op C1: 'x' must be [N, C, spatial..] with at least 1 spatial dimension; found [4, 8]; reshape it}}
  %0:2 = dlc.max_pool_positions %x {dilations = array<i64>, high = array<i64>, low = array<i64>, strides = array<i64>, window = array<i64>} : (tensor<4x8xf32>) -> (tensor<2x4x4x4xf32>, tensor<2x4x4x4xui8>)
  return
}

// -----

func.func @max_pool_positions_c2(%x: tensor<2x4x8x8xf32>) {
  // expected-error @+1 {{'dlc.max_pool_positions' op C2: `low` must have 2 entries; found 1; give one per dimension that it speaks of}}
  %0:2 = dlc.max_pool_positions %x {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x8x8xf32>) -> (tensor<2x4x4x4xf32>, tensor<2x4x4x4xui8>)
  return
}

// -----

func.func @max_pool_positions_c3(%x: tensor<2x4x8x8xf32>) {
  // expected-error @+1 {{'dlc.max_pool_positions' op C3: no dimension of the result may be negative (or beyond 2^46); spatial dimension 0 gives -1 (input 8, padding 0 + 0, window 10, stride 1, dilation 1); pad more or take a smaller window}}
  %0:2 = dlc.max_pool_positions %x {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>, window = array<i64: 10, 2>} : (tensor<2x4x8x8xf32>) -> (tensor<2x4x4x4xf32>, tensor<2x4x4x4xui8>)
  return
}

// -----

func.func @max_pool_positions_c4(%x: tensor<2x4x8x8xf32>) {
  // expected-error @+1 {{'dlc.max_pool_positions' op C4: the window must have at most 256 elements, because positions are stored in bytes; found [17, 16]; use dlc.max_pool_indices}}
  %0:2 = dlc.max_pool_positions %x {dilations = array<i64: 1, 1>, high = array<i64: 8, 8>, low = array<i64: 8, 8>, strides = array<i64: 2, 2>, window = array<i64: 17, 16>} : (tensor<2x4x8x8xf32>) -> (tensor<2x4x4x4xf32>, tensor<2x4x4x4xui8>)
  return
}

// -----

func.func @max_pool_grad_c1(%d: tensor<4x8xf32>, %p: tensor<2x4x4x4xui8>) {
  // expected-error @+1 {{'dlc.max_pool_grad' op C1: 'dy' must be [N, C, spatial..] with at least 1 spatial dimension; found [4, 8]; reshape it}}
  %0 = dlc.max_pool_grad %d, %p {dilations = array<i64>, high = array<i64>, low = array<i64>, spatial = array<i64>, strides = array<i64>, window = array<i64>} : (tensor<4x8xf32>, tensor<2x4x4x4xui8>) -> tensor<2x4x8x8xf32>
  return
}

// -----

func.func @max_pool_grad_c2(%d: tensor<2x4x4x4xf32>, %p: tensor<2x4x4x4xui8>) {
  // expected-error @+1 {{'dlc.max_pool_grad' op C2: `spatial` must have 2 entries; found 1; give one per dimension that it speaks of}}
  %0 = dlc.max_pool_grad %d, %p {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, spatial = array<i64: 8>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x4x4xf32>, tensor<2x4x4x4xui8>) -> tensor<2x4x8x8xf32>
  return
}

// -----

func.func @max_pool_grad_c2_least(%d: tensor<2x4x4x4xf32>, %p: tensor<2x4x4x4xui8>) {
  // expected-error @+1 {{'dlc.max_pool_grad' op C2: the entries of `spatial` must be 0 or more; found -1}}
  %0 = dlc.max_pool_grad %d, %p {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, spatial = array<i64: 8, -1>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x4x4xf32>, tensor<2x4x4x4xui8>) -> tensor<2x4x8x8xf32>
  return
}

// -----

func.func @max_pool_grad_c3(%d: tensor<2x4x4x4xf32>, %p: tensor<2x4x4x4xui8>) {
  // expected-error @+1 {{'dlc.max_pool_grad' op C3: 'dy' must be what the forward operation gives, here [2, 4, 4, 3]; found [2, 4, 4, 4]; correct the shape}}
  %0 = dlc.max_pool_grad %d, %p {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, spatial = array<i64: 8, 7>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x4x4xf32>, tensor<2x4x4x4xui8>) -> tensor<2x4x8x8xf32>
  return
}

// -----

func.func @max_pool_grad_c3_negative(%d: tensor<2x4x4x4xf32>, %p: tensor<2x4x4x4xui8>) {
  // expected-error @+1 {{'dlc.max_pool_grad' op C3: no dimension of the result may be negative (or beyond 2^46); spatial dimension 1 gives -1 (input 8, padding 0 + 0, window 12, stride 2, dilation 1); pad more or take a smaller window}}
  %0 = dlc.max_pool_grad %d, %p {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, spatial = array<i64: 8, 8>, strides = array<i64: 2, 2>, window = array<i64: 2, 12>} : (tensor<2x4x4x4xf32>, tensor<2x4x4x4xui8>) -> tensor<2x4x8x8xf32>
  return
}

// -----

func.func @avg_pool_grad_c1(%d: tensor<4x8xf32>) {
  // expected-error @+1 {{'dlc.avg_pool_grad' op C1: 'dy' must be [N, C, spatial..] with at least 1 spatial dimension; found [4, 8]; reshape it}}
  %0 = dlc.avg_pool_grad %d {counted_high = array<i64: 0, 0>, dilations = array<i64>, high = array<i64>, low = array<i64>, spatial = array<i64>, strides = array<i64>, window = array<i64>} : (tensor<4x8xf32>) -> tensor<2x4x8x8xf32>
  return
}

// -----

func.func @avg_pool_grad_c2(%d: tensor<2x4x4x4xf32>) {
  // expected-error @+1 {{'dlc.avg_pool_grad' op C2: `spatial` must have 2 entries; found 1; give one per dimension that it speaks of}}
  %0 = dlc.avg_pool_grad %d {counted_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, spatial = array<i64: 8>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x4x4xf32>) -> tensor<2x4x8x8xf32>
  return
}

// -----

func.func @avg_pool_grad_c2_least(%d: tensor<2x4x4x4xf32>) {
  // expected-error @+1 {{'dlc.avg_pool_grad' op C2: the entries of `spatial` must be 0 or more; found -1}}
  %0 = dlc.avg_pool_grad %d {counted_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, spatial = array<i64: 8, -1>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x4x4xf32>) -> tensor<2x4x8x8xf32>
  return
}

// -----

func.func @avg_pool_grad_c3(%d: tensor<2x4x4x4xf32>) {
  // expected-error @+1 {{'dlc.avg_pool_grad' op C3: 'dy' must be what the forward operation gives, here [2, 4, 4, 3]; found [2, 4, 4, 4]; correct the shape}}
  %0 = dlc.avg_pool_grad %d {counted_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, spatial = array<i64: 8, 7>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x4x4xf32>) -> tensor<2x4x8x8xf32>
  return
}

// -----

func.func @avg_pool_grad_c3_negative(%d: tensor<2x4x4x4xf32>) {
  // expected-error @+1 {{'dlc.avg_pool_grad' op C3: no dimension of the result may be negative (or beyond 2^46); spatial dimension 1 gives -1 (input 8, padding 0 + 0, window 12, stride 2, dilation 1); pad more or take a smaller window}}
  %0 = dlc.avg_pool_grad %d {counted_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, spatial = array<i64: 8, 8>, strides = array<i64: 2, 2>, window = array<i64: 2, 12>} : (tensor<2x4x4x4xf32>) -> tensor<2x4x8x8xf32>
  return
}

// -----

func.func @max_pool_grad_c4(%d: tensor<2x4x4x4xf32>, %p: tensor<2x4x4x4xi8>) {
  // expected-error @+1 {{'dlc.max_pool_grad' op C4: 'position' must be ui8; found 'i8'; take it from dlc.max_pool_positions}}
  %0 = dlc.max_pool_grad %d, %p {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, spatial = array<i64: 8, 8>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x4x4xf32>, tensor<2x4x4x4xi8>) -> tensor<2x4x8x8xf32>
  return
}

// -----

func.func @max_pool_grad_c4_shape(%d: tensor<2x4x4x4xf32>, %p: tensor<2x4x4x5xui8>) {
  // expected-error @+1 {{'dlc.max_pool_grad' op C4: 'position' must be of dy's shape, here [2, 4, 4, 4]; found [2, 4, 4, 5]; correct the shape}}
  %0 = dlc.max_pool_grad %d, %p {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, spatial = array<i64: 8, 8>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x4x4xf32>, tensor<2x4x4x5xui8>) -> tensor<2x4x8x8xf32>
  return
}

// -----

func.func @max_pool_grad_c5(%d: tensor<2x4x4x4xf32>, %p: tensor<2x4x4x4xui8, #dlc.on<cpu>>) {
  // expected-error @+1 {{'dlc.max_pool_grad' op C5: operands must be on one device; 'dy' is unplaced, 'position' on cpu; move one with dlc.transfer}}
  %0 = dlc.max_pool_grad %d, %p {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, spatial = array<i64: 8, 8>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x4x4xf32>, tensor<2x4x4x4xui8, #dlc.on<cpu>>) -> tensor<2x4x8x8xf32>
  return
}

// -----

func.func @avg_pool_grad_c2_counted(%d: tensor<2x4x4x4xf32>) {
  // expected-error @+1 {{'dlc.avg_pool_grad' op C2: `counted_high` must have 2 entries; found 1; give one per dimension that it speaks of}}
  %0 = dlc.avg_pool_grad %d {counted_high = array<i64: 0>, dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, spatial = array<i64: 8, 8>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x4x4xf32>) -> tensor<2x4x8x8xf32>
  return
}
