// Results of reductions, cumulative sums and top-k.
// Written by Inputs/literals.py.
// RUN: dlc-opt %s --dlc-evaluate | FileCheck %s

// CHECK-LABEL: @sum_0()
// CHECK-NEXT: dense<{{\[\[}}-5.000000e-01, 1.312500e+00, 1.125000e+00, -9.375000e-01], [1.187500e+00, 2.687500e+00, -1.500000e+00, 3.250000e+00], [6.250000e-02, -1.500000e+00, -3.750000e-01, -2.687500e+00]]> : tensor<3x4xf32>
func.func @sum_0() -> (tensor<3x4xf32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce sum %x axes [0] : (tensor<2x3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @sum_1()
// CHECK-NEXT: dense<{{\[\[}}8.750000e-01, 2.937500e+00, -1.687500e+00, -6.875000e-01], [-1.250000e-01, -4.375000e-01, 9.375000e-01, 3.125000e-01]]> : tensor<2x4xf32>
func.func @sum_1() -> (tensor<2x4xf32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce sum %x axes [1] : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// CHECK-LABEL: @sum_2()
// CHECK-NEXT: dense<{{\[\[}}2.062500e+00, 0.000000e+00, -6.250000e-01], [-1.062500e+00, 5.625000e+00, -3.875000e+00]]> : tensor<2x3xf32>
func.func @sum_2() -> (tensor<2x3xf32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce sum %x axes [2] : (tensor<2x3x4xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: @sum_02()
// CHECK-NEXT: dense<{{\[\[\[}}1.000000e+00], [5.625000e+00], [-4.500000e+00]]]> : tensor<1x3x1xf32>
func.func @sum_02() -> (tensor<1x3x1xf32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce sum %x axes [0, 2] keepdims : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
  return %y : tensor<1x3x1xf32>
}

// CHECK-LABEL: @sum_012()
// CHECK-NEXT: dense<2.125000e+00> : tensor<f32>
func.func @sum_012() -> (tensor<f32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce sum %x axes [0, 1, 2] : (tensor<2x3x4xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @mean_0()
// CHECK-NEXT: dense<{{\[\[}}-2.500000e-01, 6.562500e-01, 5.625000e-01, -4.687500e-01], [5.937500e-01, 1.343750e+00, -7.500000e-01, 1.625000e+00], [3.125000e-02, -7.500000e-01, -1.875000e-01, -1.343750e+00]]> : tensor<3x4xf32>
func.func @mean_0() -> (tensor<3x4xf32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce mean %x axes [0] : (tensor<2x3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @mean_1()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @mean_1() -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce mean %x axes [1] : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  %expected0 = dlc.constant dense<[[2.916666567e-01, 9.791666865e-01, -5.625000000e-01, -2.291666716e-01], [-4.166666791e-02, -1.458333284e-01, 3.125000000e-01, 1.041666642e-01]]> : tensor<2x4xf32>
  return %y, %expected0 : tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: @mean_2()
// CHECK-NEXT: dense<{{\[\[}}5.156250e-01, 0.000000e+00, -1.562500e-01], [-2.656250e-01, 1.406250e+00, -9.687500e-01]]> : tensor<2x3xf32>
func.func @mean_2() -> (tensor<2x3xf32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce mean %x axes [2] : (tensor<2x3x4xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: @mean_02()
// CHECK-NEXT: dense<{{\[\[\[}}1.250000e-01], [7.031250e-01], [-5.625000e-01]]]> : tensor<1x3x1xf32>
func.func @mean_02() -> (tensor<1x3x1xf32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce mean %x axes [0, 2] keepdims : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
  return %y : tensor<1x3x1xf32>
}

// CHECK-LABEL: @mean_012()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @mean_012() -> (tensor<f32>, tensor<f32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce mean %x axes [0, 1, 2] : (tensor<2x3x4xf32>) -> tensor<f32>
  %expected0 = dlc.constant dense<8.854166418e-02> : tensor<f32>
  return %y, %expected0 : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: @max_0()
// CHECK-NEXT: dense<{{\[\[}}5.000000e-01, 1.562500e+00, 1.125000e+00, 1.875000e-01], [2.000000e+00, 1.500000e+00, 5.000000e-01, 1.937500e+00], [1.187500e+00, -1.250000e-01, 4.375000e-01, -8.750000e-01]]> : tensor<3x4xf32>
func.func @max_0() -> (tensor<3x4xf32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce max %x axes [0] : (tensor<2x3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @max_1()
// CHECK-NEXT: dense<{{\[\[}}1.187500e+00, 1.562500e+00, 1.125000e+00, 1.312500e+00], [2.000000e+00, 1.187500e+00, 5.000000e-01, 1.937500e+00]]> : tensor<2x4xf32>
func.func @max_1() -> (tensor<2x4xf32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce max %x axes [1] : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// CHECK-LABEL: @max_2()
// CHECK-NEXT: dense<{{\[\[}}1.562500e+00, 1.500000e+00, 1.187500e+00], [1.875000e-01, 2.000000e+00, 4.375000e-01]]> : tensor<2x3xf32>
func.func @max_2() -> (tensor<2x3xf32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce max %x axes [2] : (tensor<2x3x4xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: @max_02()
// CHECK-NEXT: dense<{{\[\[\[}}1.562500e+00], [2.000000e+00], [1.187500e+00]]]> : tensor<1x3x1xf32>
func.func @max_02() -> (tensor<1x3x1xf32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce max %x axes [0, 2] keepdims : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
  return %y : tensor<1x3x1xf32>
}

// CHECK-LABEL: @max_012()
// CHECK-NEXT: dense<2.000000e+00> : tensor<f32>
func.func @max_012() -> (tensor<f32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce max %x axes [0, 1, 2] : (tensor<2x3x4xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @min_0()
// CHECK-NEXT: dense<{{\[\[}}-1.000000e+00, -2.500000e-01, 0.000000e+00, -1.125000e+00], [-8.125000e-01, 1.187500e+00, -2.000000e+00, 1.312500e+00], [-1.125000e+00, -1.375000e+00, -8.125000e-01, -1.812500e+00]]> : tensor<3x4xf32>
func.func @min_0() -> (tensor<3x4xf32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce min %x axes [0] : (tensor<2x3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @min_1()
// CHECK-NEXT: dense<{{\[\[}}-8.125000e-01, -1.250000e-01, -2.000000e+00, -1.125000e+00], [-1.125000e+00, -1.375000e+00, 0.000000e+00, -1.812500e+00]]> : tensor<2x4xf32>
func.func @min_1() -> (tensor<2x4xf32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce min %x axes [1] : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// CHECK-LABEL: @min_2()
// CHECK-NEXT: dense<{{\[\[}}-1.125000e+00, -2.000000e+00, -8.750000e-01], [-1.000000e+00, 5.000000e-01, -1.812500e+00]]> : tensor<2x3xf32>
func.func @min_2() -> (tensor<2x3xf32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce min %x axes [2] : (tensor<2x3x4xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// CHECK-LABEL: @min_02()
// CHECK-NEXT: dense<{{\[\[\[}}-1.125000e+00], [-2.000000e+00], [-1.812500e+00]]]> : tensor<1x3x1xf32>
func.func @min_02() -> (tensor<1x3x1xf32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce min %x axes [0, 2] keepdims : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
  return %y : tensor<1x3x1xf32>
}

// CHECK-LABEL: @min_012()
// CHECK-NEXT: dense<-2.000000e+00> : tensor<f32>
func.func @min_012() -> (tensor<f32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce min %x axes [0, 1, 2] : (tensor<2x3x4xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @prod_0()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @prod_0() -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce prod %x axes [0] : (tensor<2x3x4xf32>) -> tensor<3x4xf32>
  %expected0 = dlc.constant dense<[[-5.000000000e-01, -3.906250000e-01, 0.000000000e+00, -2.109375000e-01], [-1.625000000e+00, 1.781250000e+00, -1.000000000e+00, 2.542968750e+00], [-1.335937500e+00, 1.718750000e-01, -3.554687500e-01, 1.585937500e+00]]> : tensor<3x4xf32>
  return %y, %expected0 : tensor<3x4xf32>, tensor<3x4xf32>
}

// CHECK-LABEL: @prod_1()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @prod_1() -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce prod %x axes [1] : (tensor<2x3x4xf32>) -> tensor<2x4xf32>
  %expected0 = dlc.constant dense<[[-4.824218750e-01, -2.929687500e-01, 1.828125000e+00, 1.291992188e+00], [2.250000000e+00, 4.082031250e-01, 0.000000000e+00, -6.584472656e-01]]> : tensor<2x4xf32>
  return %y, %expected0 : tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: @prod_2()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @prod_2() -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce prod %x axes [2] : (tensor<2x3x4xf32>) -> tensor<2x3xf32>
  %expected0 = dlc.constant dense<[[-9.887695312e-01, 3.199218750e+00, -1.055297852e-01], [0.000000000e+00, 2.300781250e+00, -1.226623535e+00]]> : tensor<2x3xf32>
  return %y, %expected0 : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @prod_02()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @prod_02() -> (tensor<1x3x1xf32>, tensor<1x3x1xf32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce prod %x axes [0, 2] keepdims : (tensor<2x3x4xf32>) -> tensor<1x3x1xf32>
  %expected0 = dlc.constant dense<[[[-0.000000000e+00], [7.360702515e+00], [1.294453144e-01]]]> : tensor<1x3x1xf32>
  return %y, %expected0 : tensor<1x3x1xf32>, tensor<1x3x1xf32>
}

// CHECK-LABEL: @prod_012()
// CHECK-NEXT: dense<-0.000000e+00> : tensor<f32>
func.func @prod_012() -> (tensor<f32>) {
  %x = dlc.constant dense<[[[5.000000000e-01, 1.562500000e+00, 1.125000000e+00, -1.125000000e+00], [-8.125000000e-01, 1.500000000e+00, -2.000000000e+00, 1.312500000e+00], [1.187500000e+00, -1.250000000e-01, -8.125000000e-01, -8.750000000e-01]], [[-1.000000000e+00, -2.500000000e-01, 0.000000000e+00, 1.875000000e-01], [2.000000000e+00, 1.187500000e+00, 5.000000000e-01, 1.937500000e+00], [-1.125000000e+00, -1.375000000e+00, 4.375000000e-01, -1.812500000e+00]]]> : tensor<2x3x4xf32>
  %y = dlc.reduce prod %x axes [0, 1, 2] : (tensor<2x3x4xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @sum_empty()
// CHECK-NEXT: dense<0.000000e+00> : tensor<2xf32>
func.func @sum_empty() -> (tensor<2xf32>) {
  %x = dlc.constant dense<> : tensor<2x0xf32>
  %y = dlc.reduce sum %x axes [1] : (tensor<2x0xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: @prod_empty()
// CHECK-NEXT: dense<1.000000e+00> : tensor<2xf32>
func.func @prod_empty() -> (tensor<2xf32>) {
  %x = dlc.constant dense<> : tensor<2x0xf32>
  %y = dlc.reduce prod %x axes [1] : (tensor<2x0xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: @max_empty()
// CHECK-NEXT: dense<0xFF800000> : tensor<2xf32>
func.func @max_empty() -> (tensor<2xf32>) {
  %x = dlc.constant dense<> : tensor<2x0xf32>
  %y = dlc.reduce max %x axes [1] : (tensor<2x0xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: @min_empty()
// CHECK-NEXT: dense<0x7F800000> : tensor<2xf32>
func.func @min_empty() -> (tensor<2xf32>) {
  %x = dlc.constant dense<> : tensor<2x0xf32>
  %y = dlc.reduce min %x axes [1] : (tensor<2x0xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: @sum_wraps()
// CHECK-NEXT: dense<[-63, -95]> : tensor<2xi8>
func.func @sum_wraps() -> (tensor<2xi8>) {
  %x = dlc.constant dense<[[100, 100, -7], [-100, 2, 3]]> : tensor<2x3xi8>
  %y = dlc.reduce sum %x axes [1] : (tensor<2x3xi8>) -> tensor<2xi8>
  return %y : tensor<2xi8>
}

// CHECK-LABEL: @mean_truncates()
// CHECK-NEXT: dense<[64, -31]> : tensor<2xi8>
func.func @mean_truncates() -> (tensor<2xi8>) {
  %x = dlc.constant dense<[[100, 100, -7], [-100, 2, 3]]> : tensor<2x3xi8>
  %y = dlc.reduce mean %x axes [1] : (tensor<2x3xi8>) -> tensor<2xi8>
  return %y : tensor<2xi8>
}

// CHECK-LABEL: @max_i8_empty()
// CHECK-NEXT: dense<-128> : tensor<2xi8>
func.func @max_i8_empty() -> (tensor<2xi8>) {
  %x = dlc.constant dense<> : tensor<2x0xi8>
  %y = dlc.reduce max %x axes [1] : (tensor<2x0xi8>) -> tensor<2xi8>
  return %y : tensor<2xi8>
}

// CHECK-LABEL: @max_nan()
// CHECK-NEXT: dense<0x7FC00000> : tensor<f32>
func.func @max_nan() -> (tensor<f32>) {
  %x = dlc.constant dense<[1.000000000e+00, 0x7FC00000, 3.000000000e+00]> : tensor<3xf32>
  %y = dlc.reduce max %x axes [0] : (tensor<3xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

// CHECK-LABEL: @sum_f16()
// CHECK-NEXT: dense<9.000000e+00> : tensor<f16>
func.func @sum_f16() -> (tensor<f16>) {
  %x = dlc.constant dense<[1.000000000e+00, 1.000000000e+00, 1.000000000e+00, 1.000000000e+00, 1.000000000e+00, 1.000000000e+00, 1.000000000e+00, 1.000000000e+00, 1.000000000e+00]> : tensor<9xf16>
  %y = dlc.reduce sum %x axes [0] : (tensor<9xf16>) -> tensor<f16>
  return %y : tensor<f16>
}

// CHECK-LABEL: @any()
// CHECK-NEXT: dense<[true, false]> : tensor<2xi1>
func.func @any() -> (tensor<2xi1>) {
  %x = dlc.constant dense<[[true, false], [false, false]]> : tensor<2x2xi1>
  %y = dlc.reduce max %x axes [1] : (tensor<2x2xi1>) -> tensor<2xi1>
  return %y : tensor<2xi1>
}

// CHECK-LABEL: @all()
// CHECK-NEXT: dense<false> : tensor<2xi1>
func.func @all() -> (tensor<2xi1>) {
  %x = dlc.constant dense<[[true, false], [false, false]]> : tensor<2x2xi1>
  %y = dlc.reduce min %x axes [0] : (tensor<2x2xi1>) -> tensor<2xi1>
  return %y : tensor<2xi1>
}

// CHECK-LABEL: @arg_max()
// CHECK-NEXT: dense<[0, 1]> : tensor<2xi64>
func.func @arg_max() -> (tensor<2xi64>) {
  %x = dlc.constant dense<[[3, 1, 3], [0, 5, 5]]> : tensor<2x3xi32>
  %y = dlc.arg_reduce max %x axis 1 : (tensor<2x3xi32>) -> tensor<2xi64>
  return %y : tensor<2xi64>
}

// CHECK-LABEL: @arg_max_last()
// CHECK-NEXT: dense<2> : tensor<2x1xi64>
func.func @arg_max_last() -> (tensor<2x1xi64>) {
  %x = dlc.constant dense<[[3, 1, 3], [0, 5, 5]]> : tensor<2x3xi32>
  %y = dlc.arg_reduce max %x axis 1 keepdims last : (tensor<2x3xi32>) -> tensor<2x1xi64>
  return %y : tensor<2x1xi64>
}

// CHECK-LABEL: @arg_min()
// CHECK-NEXT: dense<[1, 0, 0]> : tensor<3xi64>
func.func @arg_min() -> (tensor<3xi64>) {
  %x = dlc.constant dense<[[3, 1, 3], [0, 5, 5]]> : tensor<2x3xi32>
  %y = dlc.arg_reduce min %x axis 0 : (tensor<2x3xi32>) -> tensor<3xi64>
  return %y : tensor<3xi64>
}

// CHECK-LABEL: @cumulative_sum()
// CHECK-NEXT: dense<{{\[\[}}3, 4, 7], [0, 5, 10]]> : tensor<2x3xi32>
func.func @cumulative_sum() -> (tensor<2x3xi32>) {
  %x = dlc.constant dense<[[3, 1, 3], [0, 5, 5]]> : tensor<2x3xi32>
  %y = dlc.cumulative sum %x axis 1 : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return %y : tensor<2x3xi32>
}

// CHECK-LABEL: @cumulative_exclusive()
// CHECK-NEXT: dense<{{\[\[}}0, 3, 4], [0, 0, 5]]> : tensor<2x3xi32>
func.func @cumulative_exclusive() -> (tensor<2x3xi32>) {
  %x = dlc.constant dense<[[3, 1, 3], [0, 5, 5]]> : tensor<2x3xi32>
  %y = dlc.cumulative sum %x axis 1 exclusive : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return %y : tensor<2x3xi32>
}

// CHECK-LABEL: @cumulative_reverse()
// CHECK-NEXT: dense<{{\[\[}}7, 4, 3], [10, 10, 5]]> : tensor<2x3xi32>
func.func @cumulative_reverse() -> (tensor<2x3xi32>) {
  %x = dlc.constant dense<[[3, 1, 3], [0, 5, 5]]> : tensor<2x3xi32>
  %y = dlc.cumulative sum %x axis 1 reverse : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return %y : tensor<2x3xi32>
}

// CHECK-LABEL: @cumulative_both()
// CHECK-NEXT: dense<{{\[\[}}4, 3, 0], [10, 5, 0]]> : tensor<2x3xi32>
func.func @cumulative_both() -> (tensor<2x3xi32>) {
  %x = dlc.constant dense<[[3, 1, 3], [0, 5, 5]]> : tensor<2x3xi32>
  %y = dlc.cumulative sum %x axis 1 exclusive reverse : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return %y : tensor<2x3xi32>
}

// CHECK-LABEL: @cumulative_prod()
// CHECK-NEXT: dense<{{\[\[}}3, 1, 3], [0, 5, 15]]> : tensor<2x3xi32>
func.func @cumulative_prod() -> (tensor<2x3xi32>) {
  %x = dlc.constant dense<[[3, 1, 3], [0, 5, 5]]> : tensor<2x3xi32>
  %y = dlc.cumulative prod %x axis 0 : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return %y : tensor<2x3xi32>
}

// CHECK-LABEL: @topk()
// CHECK-NEXT: dense<{{\[\[}}5.000000e+00, 4.000000e+00, 3.000000e+00], [9.000000e+00, 6.000000e+00, 5.000000e+00]]> : tensor<2x3xf32>
// CHECK-NEXT: dense<{{\[\[}}4, 2, 0], [0, 2, 3]]> : tensor<2x3xi64>
func.func @topk() -> (tensor<2x3xf32>, tensor<2x3xi64>) {
  %x = dlc.constant dense<[[3.000000000e+00, 1.000000000e+00, 4.000000000e+00, 1.000000000e+00, 5.000000000e+00], [9.000000000e+00, 2.000000000e+00, 6.000000000e+00, 5.000000000e+00, 3.000000000e+00]]> : tensor<2x5xf32>
  %y:2 = dlc.topk %x {k = 3 : i64, axis = 1 : i64} : (tensor<2x5xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  return %y#0, %y#1 : tensor<2x3xf32>, tensor<2x3xi64>
}

// CHECK-LABEL: @topk_smallest()
// CHECK-NEXT: dense<{{\[\[}}1.000000e+00, 1.000000e+00, 3.000000e+00], [2.000000e+00, 3.000000e+00, 5.000000e+00]]> : tensor<2x3xf32>
// CHECK-NEXT: dense<{{\[\[}}1, 3, 0], [1, 4, 3]]> : tensor<2x3xi64>
func.func @topk_smallest() -> (tensor<2x3xf32>, tensor<2x3xi64>) {
  %x = dlc.constant dense<[[3.000000000e+00, 1.000000000e+00, 4.000000000e+00, 1.000000000e+00, 5.000000000e+00], [9.000000000e+00, 2.000000000e+00, 6.000000000e+00, 5.000000000e+00, 3.000000000e+00]]> : tensor<2x5xf32>
  %y:2 = dlc.topk %x {k = 3 : i64, axis = 1 : i64, largest = false} : (tensor<2x5xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  return %y#0, %y#1 : tensor<2x3xf32>, tensor<2x3xi64>
}

// CHECK-LABEL: @topk_axis()
// CHECK-NEXT: dense<{{\[\[}}9.000000e+00, 2.000000e+00, 6.000000e+00, 5.000000e+00, 5.000000e+00]]> : tensor<1x5xf32>
// CHECK-NEXT: dense<{{\[\[}}1, 1, 1, 1, 0]]> : tensor<1x5xi64>
func.func @topk_axis() -> (tensor<1x5xf32>, tensor<1x5xi64>) {
  %x = dlc.constant dense<[[3.000000000e+00, 1.000000000e+00, 4.000000000e+00, 1.000000000e+00, 5.000000000e+00], [9.000000000e+00, 2.000000000e+00, 6.000000000e+00, 5.000000000e+00, 3.000000000e+00]]> : tensor<2x5xf32>
  %y:2 = dlc.topk %x {k = 1 : i64, axis = 0 : i64} : (tensor<2x5xf32>) -> (tensor<1x5xf32>, tensor<1x5xi64>)
  return %y#0, %y#1 : tensor<1x5xf32>, tensor<1x5xi64>
}

// CHECK-LABEL: @nms()
// CHECK-NEXT: dense<{{\[\[\[}}1, 3, 2], [3, 2, 0], [1, 0, 0]]]> : tensor<1x3x3xi64>
// CHECK-NEXT: dense<{{\[\[}}3, 3, 1]]> : tensor<1x3xi64>
func.func @nms() -> (tensor<1x3x3xi64>, tensor<1x3xi64>) {
  %b = dlc.constant dense<[[[0.000000000e+00, 0.000000000e+00, 1.000000000e+00, 5.000000000e+00], [0.000000000e+00, 6.000000000e+00, 1.000000000e+00, 1.000000000e+00], [1.000000000e+00, 8.000000000e+00, 0.000000000e+00, 3.000000000e+00], [7.000000000e+00, 7.000000000e+00, 9.000000000e+00, 9.000000000e+00]]]> : tensor<1x4x4xf32>
  %s = dlc.constant dense<[[[5.000000000e+00, 7.000000000e+00, 6.000000000e+00, 7.000000000e+00], [5.000000000e+00, 2.000000000e+00, 6.000000000e+00, 0x7FC00000], [1.000000000e+00, 2.000000000e+00, 3.000000000e+00, 4.000000000e+00]]]> : tensor<1x3x4xf32>
  %c = dlc.constant dense<[[[true, true, true, true], [true, true, true, true], [true, true, false, false]]]> : tensor<1x3x4xi1>
  %o = dlc.constant dense<5.000000000e-01> : tensor<f32>
  %y:2 = dlc.nms %b, %s, %c, %o {k = 3 : i64} : (tensor<1x4x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xi1>, tensor<f32>) -> (tensor<1x3x3xi64>, tensor<1x3xi64>)
  return %y#0, %y#1 : tensor<1x3x3xi64>, tensor<1x3xi64>
}

// CHECK-LABEL: @nms_of_two()
// CHECK-NEXT: dense<{{\[\[\[}}1, 3], [3, 2], [1, 0]]]> : tensor<1x3x2xi64>
// CHECK-NEXT: dense<2> : tensor<1x3xi64>
func.func @nms_of_two() -> (tensor<1x3x2xi64>, tensor<1x3xi64>) {
  %b = dlc.constant dense<[[[0.000000000e+00, 0.000000000e+00, 1.000000000e+00, 5.000000000e+00], [0.000000000e+00, 6.000000000e+00, 1.000000000e+00, 1.000000000e+00], [1.000000000e+00, 8.000000000e+00, 0.000000000e+00, 3.000000000e+00], [7.000000000e+00, 7.000000000e+00, 9.000000000e+00, 9.000000000e+00]]]> : tensor<1x4x4xf32>
  %s = dlc.constant dense<[[[5.000000000e+00, 7.000000000e+00, 6.000000000e+00, 7.000000000e+00], [5.000000000e+00, 2.000000000e+00, 6.000000000e+00, 0x7FC00000], [1.000000000e+00, 2.000000000e+00, 3.000000000e+00, 4.000000000e+00]]]> : tensor<1x3x4xf32>
  %c = dlc.constant dense<[[[true, true, true, true], [true, true, true, true], [true, true, false, false]]]> : tensor<1x3x4xi1>
  %o = dlc.constant dense<1.000000000e+00> : tensor<f32>
  %y:2 = dlc.nms %b, %s, %c, %o {k = 2 : i64} : (tensor<1x4x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xi1>, tensor<f32>) -> (tensor<1x3x2xi64>, tensor<1x3xi64>)
  return %y#0, %y#1 : tensor<1x3x2xi64>, tensor<1x3xi64>
}
