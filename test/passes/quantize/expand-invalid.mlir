// Uses of 4-bit integers for which there are no kernels.
// RUN: dlc-opt %s -dlc-expand-quantized -verify-diagnostics=only-expected -split-input-file

// expected-error @+1 {{4-bit integers are supported as constants that are dequantized or multiplied; found another use; cast them to 8 bits where the model is made}}
func.func @input(%x: tensor<4x6xi4>) {
  return
}

// -----

func.func @output() -> tensor<4x6xi4> {
  %0 = dlc.constant dense<3> : tensor<4x6xi4>
  // expected-error @+1 {{4-bit integers are supported as constants}}
  return %0 : tensor<4x6xi4>
}

// -----

func.func @cast(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @+1 {{4-bit integers are supported as constants}}
  %0 = dlc.cast %x to i4 : (tensor<4x6xf32>) -> tensor<4x6xi4>
  %1 = dlc.cast %0 to f32 : (tensor<4x6xi4>) -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}
