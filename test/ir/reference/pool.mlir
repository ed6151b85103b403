// Results of pools.
// Written by Inputs/literals.py.
// RUN: dlc-opt %s --dlc-evaluate | FileCheck %s

// CHECK-LABEL: @max()
// CHECK-NEXT: dense<{{\[\[}}{{\[\[}}4.000000e+00, 3.750000e+00], [2.500000e+00, 4.500000e+00]], {{\[\[}}3.000000e+00, 4.250000e+00], [2.000000e+00, 4.750000e+00]]]]> : tensor<1x2x2x2xf32>
func.func @max() -> (tensor<1x2x2x2xf32>) {
  %x = dlc.constant dense<[[[[-2.750000000e+00, -1.750000000e+00, 1.750000000e+00, -3.000000000e+00], [4.000000000e+00, -2.250000000e+00, 3.500000000e+00, 3.750000000e+00], [2.500000000e-01, 1.500000000e+00, 7.500000000e-01, 3.250000000e+00], [2.500000000e+00, -5.000000000e-01, 4.500000000e+00, 2.750000000e+00]], [[0.000000000e+00, 3.000000000e+00, 5.000000000e-01, -2.500000000e-01], [-1.500000000e+00, 2.250000000e+00, -1.000000000e+00, 4.250000000e+00], [-1.250000000e+00, 2.000000000e+00, -7.500000000e-01, 4.750000000e+00], [-2.000000000e+00, 1.000000000e+00, -2.500000000e+00, 1.250000000e+00]]]]> : tensor<1x2x4x4xf32>
  %y = dlc.max_pool %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  return %y : tensor<1x2x2x2xf32>
}

// CHECK-LABEL: @max_padded()
// CHECK-NEXT: dense<{{\[\[}}{{\[\[}}-1.937500e+00, -1.750000e+00, -1.750000e+00], [-1.375000e+00, -1.375000e+00, -1.375000e+00], [-1.375000e+00, -1.375000e+00, -1.375000e+00]]]]> : tensor<1x1x3x3xf32>
func.func @max_padded() -> (tensor<1x1x3x3xf32>) {
  %x = dlc.constant dense<[[[[-2.625000000e+00, -2.625000000e+00, -1.937500000e+00], [-2.562500000e+00, -1.937500000e+00, -1.750000000e+00], [-2.062500000e+00, -1.375000000e+00, -1.625000000e+00]]]]> : tensor<1x1x3x3xf32>
  %y = dlc.max_pool %x {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>} : (tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32>
  return %y : tensor<1x1x3x3xf32>
}

// CHECK-LABEL: @max_dilated()
// CHECK-NEXT: dense<{{\[\[}}{{\[\[}}-2.500000e-01, 5.000000e-01, 7.500000e-01], [2.500000e-01, 2.500000e-01, -7.500000e-01]]]]> : tensor<1x1x2x3xf32>
func.func @max_dilated() -> (tensor<1x1x2x3xf32>) {
  %x = dlc.constant dense<[[[[-1.250000000e+00, -2.000000000e+00, -2.250000000e+00, 7.500000000e-01], [0.000000000e+00, -5.000000000e-01, -1.500000000e+00, -7.500000000e-01], [-2.500000000e-01, -1.000000000e+00, 5.000000000e-01, -1.750000000e+00], [-2.500000000e+00, 2.500000000e-01, -2.750000000e+00, -3.000000000e+00]]]]> : tensor<1x1x4x4xf32>
  %y = dlc.max_pool %x {window = array<i64: 2, 2>, strides = array<i64: 1, 1>, dilations = array<i64: 2, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<1x1x4x4xf32>) -> tensor<1x1x2x3xf32>
  return %y : tensor<1x1x2x3xf32>
}

// CHECK-LABEL: @max_rounded_up()
// CHECK-NEXT: dense<{{\[\[\[}}-2.000000e+00, -2.250000e+00, -2.500000e+00]]]> : tensor<1x1x3xf32>
func.func @max_rounded_up() -> (tensor<1x1x3xf32>) {
  %x = dlc.constant dense<[[[-3.000000000e+00, -2.000000000e+00, -2.750000000e+00, -2.250000000e+00, -2.500000000e+00]]]> : tensor<1x1x5xf32>
  %y = dlc.max_pool %x {window = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, low = array<i64: 0>, high = array<i64: 1>} : (tensor<1x1x5xf32>) -> tensor<1x1x3xf32>
  return %y : tensor<1x1x3xf32>
}

// CHECK-LABEL: @max_indices()
// CHECK-NEXT: dense<{{\[\[}}{{\[\[}}3.250000e+00, 1.500000e+00], [3.000000e+00, 4.500000e+00]], {{\[\[}}3.500000e+00, 4.000000e+00], [2.250000e+00, 4.750000e+00]]]]> : tensor<1x2x2x2xf32>
// CHECK-NEXT: dense<{{\[\[}}{{\[\[}}5, 2], [12, 15]], {{\[\[}}20, 22], [29, 27]]]]> : tensor<1x2x2x2xi64>
func.func @max_indices() -> (tensor<1x2x2x2xf32>, tensor<1x2x2x2xi64>) {
  %x = dlc.constant dense<[[[[1.000000000e+00, -3.000000000e+00, 1.500000000e+00, -1.750000000e+00], [-5.000000000e-01, 3.250000000e+00, -1.250000000e+00, 5.000000000e-01], [-1.000000000e+00, 2.500000000e+00, 2.000000000e+00, 4.250000000e+00], [3.000000000e+00, -2.500000000e-01, -7.500000000e-01, 4.500000000e+00]], [[2.750000000e+00, -2.750000000e+00, -2.500000000e+00, 3.750000000e+00], [3.500000000e+00, 0.000000000e+00, 4.000000000e+00, 1.750000000e+00], [-1.500000000e+00, 1.250000000e+00, 7.500000000e-01, 4.750000000e+00], [-2.000000000e+00, 2.250000000e+00, 2.500000000e-01, -2.250000000e+00]]]]> : tensor<1x2x4x4xf32>
  %y:2 = dlc.max_pool_indices %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<1x2x4x4xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x2x2xi64>)
  return %y#0, %y#1 : tensor<1x2x2x2xf32>, tensor<1x2x2x2xi64>
}

// CHECK-LABEL: @max_indices_column_major()
// CHECK-NEXT: dense<{{\[\[}}{{\[\[}}5.000000e-01, 2.500000e+00], [2.750000e+00, 0.000000e+00]], {{\[\[}}2.250000e+00, 2.250000e+00], [2.000000e+00, 2.000000e+00]]]]> : tensor<1x2x2x2xf32>
// CHECK-NEXT: dense<{{\[\[}}{{\[\[}}1, 8], [3, 10]], {{\[\[}}16, 16], [19, 19]]]]> : tensor<1x2x2x2xi64>
func.func @max_indices_column_major() -> (tensor<1x2x2x2xf32>, tensor<1x2x2x2xi64>) {
  %x = dlc.constant dense<[[[[-2.250000000e+00, -2.000000000e+00, 2.500000000e+00], [5.000000000e-01, -5.000000000e-01, -1.750000000e+00], [1.500000000e+00, -2.500000000e+00, 0.000000000e+00], [2.750000000e+00, -7.500000000e-01, -1.500000000e+00]], [[2.500000000e-01, 2.250000000e+00, -1.250000000e+00], [-2.500000000e-01, 1.000000000e+00, -3.000000000e+00], [-1.000000000e+00, 1.250000000e+00, -2.750000000e+00], [1.750000000e+00, 2.000000000e+00, 7.500000000e-01]]]]> : tensor<1x2x4x3xf32>
  %y:2 = dlc.max_pool_indices %x {window = array<i64: 2, 2>, strides = array<i64: 2, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, column_major} : (tensor<1x2x4x3xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x2x2xi64>)
  return %y#0, %y#1 : tensor<1x2x2x2xf32>, tensor<1x2x2x2xi64>
}

// CHECK-LABEL: @average()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @average() -> (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) {
  %x = dlc.constant dense<[[[[-1.375000000e+00, -9.375000000e-01, 1.187500000e+00, -1.250000000e+00], [4.375000000e-01, -3.750000000e-01, -3.125000000e-01, 1.250000000e+00], [-1.375000000e+00, 1.687500000e+00, 1.562500000e+00, 6.875000000e-01], [-1.812500000e+00, 6.250000000e-01, 3.750000000e-01, 1.062500000e+00]], [[-1.125000000e+00, 1.812500000e+00, 1.562500000e+00, -1.562500000e+00], [-7.500000000e-01, -1.875000000e+00, 1.312500000e+00, 1.687500000e+00], [1.937500000e+00, 4.375000000e-01, 6.875000000e-01, 6.875000000e-01], [2.500000000e-01, 1.812500000e+00, 4.375000000e-01, -6.875000000e-01]]]]> : tensor<1x2x4x4xf32>
  %y = dlc.avg_pool %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, counted_high = array<i64: 0, 0>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %expected0 = dlc.constant dense<[[[[-5.625000000e-01, 2.187500000e-01], [-2.187500000e-01, 9.218750000e-01]], [[-4.843750000e-01, 7.500000000e-01], [1.109375000e+00, 2.812500000e-01]]]]> : tensor<1x2x2x2xf32>
  return %y, %expected0 : tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>
}

// CHECK-LABEL: @average_padding_out()
// CHECK-NEXT: dense<{{\[\[}}{{\[\[}}6.250000e-02, -9.375000e-01, -5.312500e-01, 8.750000e-01], [4.062500e-01, -3.593750e-01, 0.000000e+00, 1.125000e+00], [8.750000e-01, 2.031250e-01, -3.125000e-01, -1.562500e-01], [1.000000e+00, 1.875000e-01, -1.156250e+00, -1.687500e+00]]]]> : tensor<1x1x4x4xf32>
func.func @average_padding_out() -> (tensor<1x1x4x4xf32>) {
  %x = dlc.constant dense<[[[[6.250000000e-02, -1.937500000e+00, 8.750000000e-01], [7.500000000e-01, -3.125000000e-01, 1.375000000e+00], [1.000000000e+00, -6.250000000e-01, -1.687500000e+00]]]]> : tensor<1x1x3x3xf32>
  %y = dlc.avg_pool %x {window = array<i64: 2, 2>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, counted_high = array<i64: 1, 1>} : (tensor<1x1x3x3xf32>) -> tensor<1x1x4x4xf32>
  return %y : tensor<1x1x4x4xf32>
}

// CHECK-LABEL: @average_padding_in()
// CHECK-NEXT: dense<{{\[\[}}{{\[\[}}-3.750000e-01, -6.875000e-01, -5.156250e-01, -2.031250e-01], [-4.218750e-01, -3.125000e-01, -3.125000e-01, -4.218750e-01], [3.593750e-01, 9.687500e-01, 7.500000e-01, 1.406250e-01], [4.062500e-01, 5.937500e-01, 5.468750e-01, 3.593750e-01]]]]> : tensor<1x1x4x4xf32>
func.func @average_padding_in() -> (tensor<1x1x4x4xf32>) {
  %x = dlc.constant dense<[[[[-1.500000000e+00, -1.250000000e+00, -8.125000000e-01], [-1.875000000e-01, 1.687500000e+00, -8.750000000e-01], [1.625000000e+00, 7.500000000e-01, 1.437500000e+00]]]]> : tensor<1x1x3x3xf32>
  %y = dlc.avg_pool %x {window = array<i64: 2, 2>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, counted_high = array<i64: 1, 1>, include_pad} : (tensor<1x1x3x3xf32>) -> tensor<1x1x4x4xf32>
  return %y : tensor<1x1x4x4xf32>
}

// CHECK-LABEL: @average_rounded_up()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @average_rounded_up() -> (tensor<1x1x3xf32>, tensor<1x1x3xf32>) {
  %x = dlc.constant dense<[[[-3.750000000e-01, -2.000000000e+00, 1.125000000e+00, -1.000000000e+00]]]> : tensor<1x1x4xf32>
  %y = dlc.avg_pool %x {window = array<i64: 3>, strides = array<i64: 2>, dilations = array<i64: 1>, low = array<i64: 1>, high = array<i64: 2>, counted_high = array<i64: 1>, include_pad} : (tensor<1x1x4xf32>) -> tensor<1x1x3xf32>
  %expected0 = dlc.constant dense<[[[-7.916666865e-01, -6.250000000e-01, -5.000000000e-01]]]> : tensor<1x1x3xf32>
  return %y, %expected0 : tensor<1x1x3xf32>, tensor<1x1x3xf32>
}

// CHECK-LABEL: @average_dilated()
// CHECK-NEXT: dense<{{\[\[}}{{\[\[}}1.468750e+00, -6.406250e-01, 6.562500e-01], [1.500000e+00, -1.218750e+00, 9.687500e-01], [7.187500e-01, -8.750000e-01, -4.687500e-02]]]]> : tensor<1x1x3x3xf32>
func.func @average_dilated() -> (tensor<1x1x3x3xf32>) {
  %x = dlc.constant dense<[[[[-1.437500000e+00, 1.187500000e+00, 7.500000000e-01, -1.125000000e+00], [-9.375000000e-01, 1.750000000e+00, -9.375000000e-01, 8.125000000e-01], [-1.500000000e+00, 1.250000000e+00, -1.500000000e+00, 6.250000000e-02], [-1.875000000e+00, 1.875000000e-01, 1.375000000e+00, -1.687500000e+00]]]]> : tensor<1x1x4x4xf32>
  %y = dlc.avg_pool %x {window = array<i64: 2, 2>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 2>, low = array<i64: 0, 1>, high = array<i64: 0, 0>, counted_high = array<i64: 0, 0>} : (tensor<1x1x4x4xf32>) -> tensor<1x1x3x3xf32>
  return %y : tensor<1x1x3x3xf32>
}
