// What matrix products give.
// Written by Inputs/literals.py.
// RUN: dlc-opt %s --dlc-evaluate | FileCheck %s

// CHECK-LABEL: @plain()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @plain() -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %a = dlc.constant dense<[[-1.875000000e+00, 6.250000000e-02, -1.250000000e-01], [1.687500000e+00, 5.000000000e-01, 6.250000000e-02]]> : tensor<2x3xf32>
  %b = dlc.constant dense<[[-0.000000000e+00, -1.000000000e+00, -1.937500000e+00, -1.250000000e+00], [7.500000000e-01, -1.187500000e+00, -5.000000000e-01, -2.000000000e+00], [1.312500000e+00, -1.375000000e+00, -9.375000000e-01, 1.500000000e+00]]> : tensor<3x4xf32>
  %y = dlc.matmul %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %expected0 = dlc.constant dense<[[-1.171875000e-01, 1.972656250e+00, 3.718750000e+00, 2.031250000e+00], [4.570312500e-01, -2.367187500e+00, -3.578125000e+00, -3.015625000e+00]]> : tensor<2x4xf32>
  return %y, %expected0 : tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: @transposed_a()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @transposed_a() -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %a = dlc.constant dense<[[-1.875000000e+00, 1.687500000e+00], [6.250000000e-02, 5.000000000e-01], [-1.250000000e-01, 6.250000000e-02]]> : tensor<3x2xf32>
  %b = dlc.constant dense<[[-0.000000000e+00, -1.000000000e+00, -1.937500000e+00, -1.250000000e+00], [7.500000000e-01, -1.187500000e+00, -5.000000000e-01, -2.000000000e+00], [1.312500000e+00, -1.375000000e+00, -9.375000000e-01, 1.500000000e+00]]> : tensor<3x4xf32>
  %y = dlc.matmul %a, %b transpose_a : (tensor<3x2xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %expected0 = dlc.constant dense<[[-1.171875000e-01, 1.972656250e+00, 3.718750000e+00, 2.031250000e+00], [4.570312500e-01, -2.367187500e+00, -3.578125000e+00, -3.015625000e+00]]> : tensor<2x4xf32>
  return %y, %expected0 : tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: @transposed_b()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @transposed_b() -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %a = dlc.constant dense<[[-1.875000000e+00, 6.250000000e-02, -1.250000000e-01], [1.687500000e+00, 5.000000000e-01, 6.250000000e-02]]> : tensor<2x3xf32>
  %b = dlc.constant dense<[[-0.000000000e+00, 7.500000000e-01, 1.312500000e+00], [-1.000000000e+00, -1.187500000e+00, -1.375000000e+00], [-1.937500000e+00, -5.000000000e-01, -9.375000000e-01], [-1.250000000e+00, -2.000000000e+00, 1.500000000e+00]]> : tensor<4x3xf32>
  %y = dlc.matmul %a, %b transpose_b : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  %expected0 = dlc.constant dense<[[-1.171875000e-01, 1.972656250e+00, 3.718750000e+00, 2.031250000e+00], [4.570312500e-01, -2.367187500e+00, -3.578125000e+00, -3.015625000e+00]]> : tensor<2x4xf32>
  return %y, %expected0 : tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: @transposed_both()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @transposed_both() -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %a = dlc.constant dense<[[-1.875000000e+00, 1.687500000e+00], [6.250000000e-02, 5.000000000e-01], [-1.250000000e-01, 6.250000000e-02]]> : tensor<3x2xf32>
  %b = dlc.constant dense<[[-0.000000000e+00, 7.500000000e-01, 1.312500000e+00], [-1.000000000e+00, -1.187500000e+00, -1.375000000e+00], [-1.937500000e+00, -5.000000000e-01, -9.375000000e-01], [-1.250000000e+00, -2.000000000e+00, 1.500000000e+00]]> : tensor<4x3xf32>
  %y = dlc.matmul %a, %b transpose_a transpose_b : (tensor<3x2xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  %expected0 = dlc.constant dense<[[-1.171875000e-01, 1.972656250e+00, 3.718750000e+00, 2.031250000e+00], [4.570312500e-01, -2.367187500e+00, -3.578125000e+00, -3.015625000e+00]]> : tensor<2x4xf32>
  return %y, %expected0 : tensor<2x4xf32>, tensor<2x4xf32>
}

// CHECK-LABEL: @batches_broadcast()
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @batches_broadcast() -> (tensor<2x3x2x2xf32>, tensor<2x3x2x2xf32>) {
  %a = dlc.constant dense<[[[[6.250000000e-02, 1.375000000e+00, 5.625000000e-01], [9.375000000e-01, -1.625000000e+00, 1.875000000e-01]]], [[[0.000000000e+00, 1.500000000e+00, -5.625000000e-01], [3.750000000e-01, -1.750000000e+00, -4.375000000e-01]]]]> : tensor<2x1x2x3xf32>
  %b = dlc.constant dense<[[[-6.875000000e-01, -1.375000000e+00], [1.250000000e+00, -5.000000000e-01], [1.937500000e+00, 3.750000000e-01]], [[4.375000000e-01, 5.625000000e-01], [6.875000000e-01, -1.375000000e+00], [-2.500000000e-01, -1.062500000e+00]], [[-3.750000000e-01, -1.625000000e+00], [1.875000000e+00, -1.125000000e+00], [6.875000000e-01, -8.125000000e-01]]]> : tensor<3x3x2xf32>
  %y = dlc.matmul %a, %b : (tensor<2x1x2x3xf32>, tensor<3x3x2xf32>) -> tensor<2x3x2x2xf32>
  %expected0 = dlc.constant dense<[[[[2.765625000e+00, -5.625000000e-01], [-2.312500000e+00, -4.062500000e-01]], [[8.320312500e-01, -2.453125000e+00], [-7.539062500e-01, 2.562500000e+00]], [[2.941406250e+00, -2.105468750e+00], [-3.269531250e+00, 1.523437500e-01]]], [[[7.851562500e-01, -9.609375000e-01], [-3.292968750e+00, 1.953125000e-01]], [[1.171875000e+00, -1.464843750e+00], [-9.296875000e-01, 3.082031250e+00]], [[2.425781250e+00, -1.230468750e+00], [-3.722656250e+00, 1.714843750e+00]]]]> : tensor<2x3x2x2xf32>
  return %y, %expected0 : tensor<2x3x2x2xf32>, tensor<2x3x2x2xf32>
}

// CHECK-LABEL: @integers_wrap()
// CHECK-NEXT: dense<58> : tensor<1x1xi8>
func.func @integers_wrap() -> (tensor<1x1xi8>) {
  %a = dlc.constant dense<[[100, 2]]> : tensor<1x2xi8>
  %b = dlc.constant dense<[[3], [7]]> : tensor<2x1xi8>
  %y = dlc.matmul %a, %b : (tensor<1x2xi8>, tensor<2x1xi8>) -> tensor<1x1xi8>
  return %y : tensor<1x1xi8>
}

// CHECK-LABEL: @empty_sum()
// CHECK-NEXT: dense<0.000000e+00> : tensor<2x4xf32>
func.func @empty_sum() -> (tensor<2x4xf32>) {
  %a = dlc.constant dense<> : tensor<2x0xf32>
  %b = dlc.constant dense<> : tensor<0x4xf32>
  %y = dlc.matmul %a, %b : (tensor<2x0xf32>, tensor<0x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
