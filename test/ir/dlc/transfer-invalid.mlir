// Devices, layouts and random numbers: one test per constraint.
// RUN: dlc-opt %s -verify-diagnostics -split-input-file

func.func @transfer_c1_shape(%x: tensor<4x16xf32, #dlc.on<cpu>>) {
  // expected-error @+1 {{'dlc.transfer' op C1: the shape must not change; found [4, 16] to [16, 4]; reshape before or after}}
  %0 = dlc.transfer %x : (tensor<4x16xf32, #dlc.on<cpu>>) -> tensor<16x4xf32, #dlc.on<cpu:1>>
  return
}

// -----

func.func @transfer_c1_element(%x: tensor<4x16xf32, #dlc.on<cpu>>) {
  // expected-error @+1 {{'dlc.transfer' op C1: the element type must not change; found 'f32' to 'f16'; convert with dlc.cast}}
  %0 = dlc.transfer %x : (tensor<4x16xf32, #dlc.on<cpu>>) -> tensor<4x16xf16, #dlc.on<cpu:1>>
  return
}

// -----

func.func @transfer_c1_placed(%x: tensor<4x16xf32, #dlc.on<cpu>>) {
  // expected-error @+1 {{'dlc.transfer' op C1: both types must have a device; found 'tensor<4x16xf32, #dlc.on<cpu>>' to 'tensor<4x16xf32>'; give each a device}}
  %0 = dlc.transfer %x : (tensor<4x16xf32, #dlc.on<cpu>>) -> tensor<4x16xf32>
  return
}

// -----

func.func @reorder_c1_shape(%x: tensor<4x16xf32, #dlc.on<cpu>>) {
  // expected-error @+1 {{'dlc.reorder' op C1: the shape must not change; found [4, 16] to [4, 15]}}
  %0 = dlc.reorder %x : (tensor<4x16xf32, #dlc.on<cpu>>) -> tensor<4x15xf32, #dlc.on<cpu>>
  return
}

// -----

func.func @reorder_c1_element(%x: tensor<4x16xf32, #dlc.on<cpu>>) {
  // expected-error @+1 {{'dlc.reorder' op C1: the element type must not change; found 'f32' to 'i32'}}
  %0 = dlc.reorder %x : (tensor<4x16xf32, #dlc.on<cpu>>) -> tensor<4x16xi32, #dlc.on<cpu>>
  return
}

// -----

func.func @reorder_c1_device(%x: tensor<4x16xf32, #dlc.on<cpu>>) {
  // expected-error @+1 {{'dlc.reorder' op C1: the device must not change; found cpu to cpu:1; move with dlc.transfer}}
  %0 = dlc.reorder %x : (tensor<4x16xf32, #dlc.on<cpu>>) -> tensor<4x16xf32, #dlc.on<cpu:1, ba>>
  return
}

// -----

func.func @random_c1(%c: tensor<1xi64>) {
  // expected-error @+1 {{'dlc.random' op C1: the counter must be a 0-d i64; found 'tensor<1xi64>'; reshape or cast it}}
  %0 = dlc.random uniform %c seed 7 : (tensor<1xi64>) -> tensor<2xf32>
  return
}

// -----

func.func @random_c1_element(%c: tensor<i32>) {
  // expected-error @+1 {{'dlc.random' op C1: the counter must be a 0-d i64; found 'tensor<i32>'}}
  %0 = dlc.random uniform %c seed 7 : (tensor<i32>) -> tensor<2xf32>
  return
}

// -----

func.func @random_c1_result(%c: tensor<i64>) {
  // expected-error @+1 {{result #0 must be ranked tensor of f16, bf16, f32 or f64 values}}
  %0 = dlc.random uniform %c seed 7 : (tensor<i64>) -> tensor<2xi32>
  return
}

// -----

func.func @view_of_another_shape(%x: tensor<1x4x4x16xf32, #dlc.on<cpu>>) -> tensor<1x4x4x16xf32, #dlc.on<cpu>> {
  // expected-error @+1 {{C2: the result must be [1, 16, 4, 4] of 'f32' on the operand's device}}
  %0 = dlc.transposed_view %x [0, 3, 1, 2] : (tensor<1x4x4x16xf32, #dlc.on<cpu>>) -> tensor<1x4x4x16xf32, #dlc.on<cpu>>
  return %0 : tensor<1x4x4x16xf32, #dlc.on<cpu>>
}

// -----

func.func @view_of_dimensions_twice(%x: tensor<4x4xf32, #dlc.on<cpu>>) -> tensor<4x4xf32, #dlc.on<cpu, ba>> {
  // expected-error @+1 {{C1: `permutation` must hold each of the 2 dimensions once; found}}
  %0 = dlc.transposed_view %x [0, 0] : (tensor<4x4xf32, #dlc.on<cpu>>) -> tensor<4x4xf32, #dlc.on<cpu, ba>>
  return %0 : tensor<4x4xf32, #dlc.on<cpu, ba>>
}
