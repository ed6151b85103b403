// Convolution: one test per constraint, and the inferred types.
// RUN: dlc-opt %s -verify-diagnostics=only-expected -split-input-file

func.func @conv_c1(%x: tensor<4x8xf32>, %w: tensor<6x4xf32>) {
  // expected-error @+1 {{'dlc.conv' op C1: 'x' must be [N, C, spatial..] with 1 to 3 spatial dimensions; found [4, 8]; reshape it}}
  %0 = dlc.conv %x, %w {dilations = array<i64>, groups = 1 : i64, high = array<i64>, low = array<i64>, strides = array<i64>} : (tensor<4x8xf32>, tensor<6x4xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @conv_c1_rank(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error @+1 {{'dlc.conv' op C1: both ranks must agree; 'x' has rank 4, 'w' rank 3; reshape one}}
  %0 = dlc.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<6x4x3xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @conv_c2(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'dlc.conv' op C2: `strides` must have 2 entries; found 1; give one per dimension that it speaks of}}
  %0 = dlc.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @conv_c2_least(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'dlc.conv' op C2: the entries of `strides` must be 1 or more; found 0}}
  %0 = dlc.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 0, 1>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @conv_c2_dilations(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'dlc.conv' op C2: the entries of `dilations` must be 1 or more; found -1}}
  %0 = dlc.conv %x, %w {dilations = array<i64: 1, -1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @conv_c2_low(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'dlc.conv' op C2: `low` must have 2 entries; found 3}}
  %0 = dlc.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @conv_c2_high(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'dlc.conv' op C2: `high` must have 2 entries; found 0}}
  %0 = dlc.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @conv_c3(%x: tensor<1x4x8x8xf32>, %w: tensor<6x3x3x3xf32>) {
  // expected-error @+1 {{'dlc.conv' op C3: channels must agree under `groups`, which divides both; found 4 channels in 'x', weights [6, 3, 3, 3] and groups 1; correct the groups or a shape}}
  %0 = dlc.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @conv_c3_groups(%x: tensor<1x4x8x8xf32>, %w: tensor<6x1x3x3xf32>) {
  // expected-error @+1 {{'dlc.conv' op C3: channels must agree under `groups`, which divides both; found 4 channels in 'x', weights [6, 1, 3, 3] and groups 4}}
  %0 = dlc.conv %x, %w {dilations = array<i64: 1, 1>, groups = 4 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<6x1x3x3xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @conv_c3_zero(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'dlc.conv' op C3: channels must agree under `groups`}}
  %0 = dlc.conv %x, %w {dilations = array<i64: 1, 1>, groups = 0 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @conv_c4(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf16>) {
  // expected-error @+1 {{'dlc.conv' op C4: element types must agree; 'x' has 'f32', 'w' has 'f16'}}
  %0 = dlc.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf16>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @conv_c4_device(%x: tensor<1x4x8x8xf32, #dlc.on<cpu>>, %w: tensor<6x4x3x3xf32, #dlc.on<cuda:0>>) {
  // expected-error @+1 {{'dlc.conv' op C4: operands must be on one device; 'x' is on cpu, 'w' on cuda:0}}
  %0 = dlc.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x8x8xf32, #dlc.on<cpu>>, tensor<6x4x3x3xf32, #dlc.on<cuda:0>>) -> tensor<?x?x?x?xf32, #dlc.on<cpu>>
  return
}

// -----

func.func @conv_c5(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x10x3xf32>) {
  // expected-error @+1 {{'dlc.conv' op C5: no dimension of the result may be negative (or beyond 2^46); spatial dimension 0 gives -1 (input 8, padding 0 + 0, window 10, stride 1, dilation 1); pad more or take a smaller window}}
  %0 = dlc.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<6x4x10x3xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @conv_c5_beyond(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'dlc.conv' op C5: no dimension of the result may be negative (or beyond 2^46); spatial dimension 0 gives a size beyond 2^46}}
  %0 = dlc.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 9223372036854775807, 0>, low = array<i64: 9223372036854775807, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @conv_c6(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{'dlc.conv' op C6: 'bias' must be [output channels], here [6]; found [4]; correct the shape}}
  %0 = dlc.conv %x, %w, %b {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<4xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @transpose_c1(%x: tensor<6x8xf32>, %w: tensor<6x4xf32>) {
  // expected-error @+1 {{'dlc.conv_transpose' op C1: 'x' must be [N, C, spatial..] with 1 to 3 spatial dimensions; found [6, 8]}}
  %0 = dlc.conv_transpose %x, %w {dilations = array<i64>, extra = array<i64>, groups = 1 : i64, high = array<i64>, low = array<i64>, strides = array<i64>} : (tensor<6x8xf32>, tensor<6x4xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @transpose_c2(%x: tensor<1x6x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'dlc.conv_transpose' op C2: `extra` must have 2 entries; found 1}}
  %0 = dlc.conv_transpose %x, %w {dilations = array<i64: 1, 1>, extra = array<i64: 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x6x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @transpose_c3(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'dlc.conv_transpose' op C3: channels must agree under `groups`, which divides both; found 4 channels in 'x', weights [6, 4, 3, 3] and groups 1}}
  %0 = dlc.conv_transpose %x, %w {dilations = array<i64: 1, 1>, extra = array<i64: 0, 0>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @transpose_c4(%x: tensor<1x6x8x8xf32>, %w: tensor<6x4x3x3xf64>) {
  // expected-error @+1 {{'dlc.conv_transpose' op C4: element types must agree; 'x' has 'f32', 'w' has 'f64'}}
  %0 = dlc.conv_transpose %x, %w {dilations = array<i64: 1, 1>, extra = array<i64: 0, 0>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x6x8x8xf32>, tensor<6x4x3x3xf64>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @transpose_c5(%x: tensor<1x6x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'dlc.conv_transpose' op C5: no dimension of the result may be negative (or beyond 2^46); spatial dimension 0 gives -2}}
  %0 = dlc.conv_transpose %x, %w {dilations = array<i64: 1, 1>, extra = array<i64: 0, 0>, groups = 1 : i64, high = array<i64: 6, 0>, low = array<i64: 6, 0>, strides = array<i64: 1, 1>} : (tensor<1x6x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @transpose_c6(%x: tensor<1x6x8x8xf32>, %w: tensor<6x4x3x3xf32>, %b: tensor<6xf32>) {
  // expected-error @+1 {{'dlc.conv_transpose' op C6: 'bias' must be [output channels], here [4]; found [6]}}
  %0 = dlc.conv_transpose %x, %w, %b {dilations = array<i64: 1, 1>, extra = array<i64: 0, 0>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x6x8x8xf32>, tensor<6x4x3x3xf32>, tensor<6xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @inferred(%x: tensor<?x4x?x9xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'dlc.conv' op inferred type(s) 'tensor<?x6x?x4xf32>' are incompatible with return type(s) of operation 'tensor<f32>'}}
  %0 = dlc.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>} : (tensor<?x4x?x9xf32>, tensor<6x4x3x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @inferred_transposed(%x: tensor<1x6x8x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{'dlc.conv_transpose' op inferred type(s) 'tensor<1x4x18x24xf32>' are incompatible with return type(s) of operation 'tensor<f32>'}}
  %0 = dlc.conv_transpose %x, %w {dilations = array<i64: 1, 1>, extra = array<i64: 1, 0>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 3>} : (tensor<1x6x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @conv_weight_grad_c1(%x: tensor<2x4x8x8xf32>, %d: tensor<3x6x4x4xf32>) {
  // expected-error @+1 {{'dlc.conv_weight_grad' op C1: 'x' and 'dy' must be [N, channels, spatial..] of one rank, 3 to 5, and one N; found [2, 4, 8, 8] and [3, 6, 4, 4]; reshape one}}
  %0 = dlc.conv_weight_grad %x, %d {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x8x8xf32>, tensor<3x6x4x4xf32>) -> tensor<6x4x2x2xf32>
  return
}

// -----

func.func @conv_weight_grad_c1_rank(%x: tensor<2x4x8x8xf32>, %d: tensor<2x6x16xf32>) {
  // expected-error @+1 {{'dlc.conv_weight_grad' op C1: 'x' and 'dy' must be [N, channels, spatial..] of one rank, 3 to 5, and one N; found [2, 4, 8, 8] and [2, 6, 16]; reshape one}}
  %0 = dlc.conv_weight_grad %x, %d {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x8x8xf32>, tensor<2x6x16xf32>) -> tensor<6x4x2x2xf32>
  return
}

// -----

func.func @conv_weight_grad_c2(%x: tensor<2x4x8x8xf32>, %d: tensor<2x6x4x4xf32>) {
  // expected-error @+1 {{'dlc.conv_weight_grad' op C2: `window` must have 2 entries; found 1; give one per dimension that it speaks of}}
  %0 = dlc.conv_weight_grad %x, %d {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2>} : (tensor<2x4x8x8xf32>, tensor<2x6x4x4xf32>) -> tensor<6x4x2x2xf32>
  return
}

// -----

func.func @conv_weight_grad_c2_least(%x: tensor<2x4x8x8xf32>, %d: tensor<2x6x4x4xf32>) {
  // expected-error @+1 {{'dlc.conv_weight_grad' op C2: the entries of `dilations` must be 1 or more; found 0}}
  %0 = dlc.conv_weight_grad %x, %d {dilations = array<i64: 1, 0>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x8x8xf32>, tensor<2x6x4x4xf32>) -> tensor<6x4x2x2xf32>
  return
}

// -----

func.func @conv_weight_grad_c3(%x: tensor<2x4x8x8xf32>, %d: tensor<2x6x4x4xf32>) {
  // expected-error @+1 {{'dlc.conv_weight_grad' op C3: `groups` must divide the channels of both; found 4 in 'x', 6 in 'dy' and groups 4; correct the groups or a shape}}
  %0 = dlc.conv_weight_grad %x, %d {dilations = array<i64: 1, 1>, groups = 4 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x8x8xf32>, tensor<2x6x4x4xf32>) -> tensor<6x4x2x2xf32>
  return
}

// -----

func.func @conv_weight_grad_c4(%x: tensor<2x4x8x8xf32>, %d: tensor<2x6x4x4xf16>) {
  // expected-error @+1 {{'dlc.conv_weight_grad' op C4: element types must agree; 'x' has 'f32', 'dy' has 'f16'; convert one with dlc.cast}}
  %0 = dlc.conv_weight_grad %x, %d {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x8x8xf32>, tensor<2x6x4x4xf16>) -> tensor<6x4x2x2xf32>
  return
}

// -----

func.func @conv_weight_grad_c4_device(%x: tensor<2x4x8x8xf32, #dlc.on<cpu>>, %d: tensor<2x6x4x4xf32>) {
  // expected-error @+1 {{'dlc.conv_weight_grad' op C4: operands must be on one device; 'x' is on cpu, 'dy' unplaced; move one with dlc.transfer}}
  %0 = dlc.conv_weight_grad %x, %d {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x8x8xf32, #dlc.on<cpu>>, tensor<2x6x4x4xf32>) -> tensor<6x4x2x2xf32>
  return
}

// -----

func.func @conv_weight_grad_c5(%x: tensor<2x4x8x8xf32>, %d: tensor<2x6x4x5xf32>) {
  // expected-error @+1 {{'dlc.conv_weight_grad' op C5: 'dy' must be what conv gives, here [2, 6, 4, 4]; found [2, 6, 4, 5]; correct the shape}}
  %0 = dlc.conv_weight_grad %x, %d {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x8x8xf32>, tensor<2x6x4x5xf32>) -> tensor<6x4x2x2xf32>
  return
}

// -----

func.func @conv_weight_grad_result(%x: tensor<2x4x8x8xf32>, %d: tensor<2x6x4x4xf32>) {
  // expected-error @+1 {{'dlc.conv_weight_grad' op inferred type(s) 'tensor<6x2x2x2xf32>' are incompatible with return type(s) of operation 'tensor<6x4x2x2xf32>'}}
  %0 = dlc.conv_weight_grad %x, %d {dilations = array<i64: 1, 1>, groups = 2 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x8x8xf32>, tensor<2x6x4x4xf32>) -> tensor<6x4x2x2xf32>
  return
}
