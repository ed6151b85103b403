// Results of gathers and scatters.
// Written by Inputs/literals.py.
// RUN: dlc-opt %s --dlc-evaluate | FileCheck %s

// CHECK-LABEL: @gather_rows()
// CHECK-NEXT: dense<{{\[\[\[}}8, 9, 10, 11], [0, 1, 2, 3]], {{\[\[}}0, 1, 2, 3], [4, 5, 6, 7]]]> : tensor<2x2x4xi32>
func.func @gather_rows() -> (tensor<2x2x4xi32>) {
  %x = dlc.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]> : tensor<3x4xi32>
  %i = dlc.constant dense<[[2, -3], [0, 1]]> : tensor<2x2xi64>
  %y = dlc.gather 0 %x, %i : (tensor<3x4xi32>, tensor<2x2xi64>) -> tensor<2x2x4xi32>
  return %y : tensor<2x2x4xi32>
}

// CHECK-LABEL: @gather_columns()
// CHECK-NEXT: dense<{{\[\[\[}}2, 1], [0, 1]], {{\[\[}}6, 5], [4, 5]], {{\[\[}}10, 9], [8, 9]]]> : tensor<3x2x2xi32>
func.func @gather_columns() -> (tensor<3x2x2xi32>) {
  %x = dlc.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]> : tensor<3x4xi32>
  %i = dlc.constant dense<[[2, -3], [0, 1]]> : tensor<2x2xi64>
  %y = dlc.gather 1 %x, %i : (tensor<3x4xi32>, tensor<2x2xi64>) -> tensor<3x2x2xi32>
  return %y : tensor<3x2x2xi32>
}

// CHECK-LABEL: @gather_one()
// CHECK-NEXT: dense<[3, 7, 11]> : tensor<3xi32>
func.func @gather_one() -> (tensor<3xi32>) {
  %x = dlc.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]> : tensor<3x4xi32>
  %i = dlc.constant dense<-1> : tensor<i32>
  %y = dlc.gather 1 %x, %i : (tensor<3x4xi32>, tensor<i32>) -> tensor<3xi32>
  return %y : tensor<3xi32>
}

// An index out of range reads the nearest element.
// CHECK-LABEL: @gather_outside()
// CHECK-NEXT: dense<{{\[\[}}8, 9, 10, 11], [0, 1, 2, 3]]> : tensor<2x4xi32>
func.func @gather_outside() -> (tensor<2x4xi32>) {
  %x = dlc.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]> : tensor<3x4xi32>
  %i = dlc.constant dense<[7, -9]> : tensor<2xi64>
  %y = dlc.gather 0 %x, %i : (tensor<3x4xi32>, tensor<2xi64>) -> tensor<2x4xi32>
  return %y : tensor<2x4xi32>
}

// CHECK-LABEL: @gather_elements()
// CHECK-NEXT: dense<{{\[\[}}1, 3], [4, 6]]> : tensor<2x2xi32>
func.func @gather_elements() -> (tensor<2x2xi32>) {
  %x = dlc.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]> : tensor<3x4xi32>
  %i = dlc.constant dense<[[1, -1], [0, 2]]> : tensor<2x2xi64>
  %y = dlc.gather_elements 1 %x, %i : (tensor<3x4xi32>, tensor<2x2xi64>) -> tensor<2x2xi32>
  return %y : tensor<2x2xi32>
}

// CHECK-LABEL: @gather_elements_0()
// CHECK-NEXT: dense<{{\[\[}}4, 9], [0, 9]]> : tensor<2x2xi32>
func.func @gather_elements_0() -> (tensor<2x2xi32>) {
  %x = dlc.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]> : tensor<3x4xi32>
  %i = dlc.constant dense<[[1, -1], [0, 2]]> : tensor<2x2xi64>
  %y = dlc.gather_elements 0 %x, %i : (tensor<3x4xi32>, tensor<2x2xi64>) -> tensor<2x2xi32>
  return %y : tensor<2x2xi32>
}

// CHECK-LABEL: @gather_nd()
// CHECK-NEXT: dense<{{\[\[}}2.000000e+00, 3.000000e+00], [4.000000e+00, 5.000000e+00]]> : tensor<2x2xf32>
func.func @gather_nd() -> (tensor<2x2xf32>) {
  %x = dlc.constant dense<[[[0.000000000e+00, 1.000000000e+00], [2.000000000e+00, 3.000000000e+00]], [[4.000000000e+00, 5.000000000e+00], [6.000000000e+00, 7.000000000e+00]]]> : tensor<2x2x2xf32>
  %i = dlc.constant dense<[[0, 1], [1, -2]]> : tensor<2x2xi64>
  %y = dlc.gather_nd %x, %i {batch_dims = 0 : i64} : (tensor<2x2x2xf32>, tensor<2x2xi64>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// CHECK-LABEL: @gather_nd_batch()
// CHECK-NEXT: dense<{{\[\[}}2.000000e+00, 3.000000e+00], [4.000000e+00, 5.000000e+00]]> : tensor<2x2xf32>
func.func @gather_nd_batch() -> (tensor<2x2xf32>) {
  %x = dlc.constant dense<[[[0.000000000e+00, 1.000000000e+00], [2.000000000e+00, 3.000000000e+00]], [[4.000000000e+00, 5.000000000e+00], [6.000000000e+00, 7.000000000e+00]]]> : tensor<2x2x2xf32>
  %i = dlc.constant dense<[[1], [0]]> : tensor<2x1xi64>
  %y = dlc.gather_nd %x, %i {batch_dims = 1 : i64} : (tensor<2x2x2xf32>, tensor<2x1xi64>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// CHECK-LABEL: @scatter_elements_none()
// CHECK-NEXT: dense<{{\[\[}}1.000000e+00, 5.000000e-01, 3.000000e+00, 7.000000e+00, 5.000000e+00]]> : tensor<1x5xf32>
func.func @scatter_elements_none() -> (tensor<1x5xf32>) {
  %x = dlc.constant dense<[[1.000000000e+00, 2.000000000e+00, 3.000000000e+00, 4.000000000e+00, 5.000000000e+00]]> : tensor<1x5xf32>
  %i = dlc.constant dense<[[1, 1, -2]]> : tensor<1x3xi64>
  %u = dlc.constant dense<[[1.000000000e+01, 5.000000000e-01, 7.000000000e+00]]> : tensor<1x3xf32>
  %y = dlc.scatter_elements none 1 %x, %i, %u : (tensor<1x5xf32>, tensor<1x3xi64>, tensor<1x3xf32>) -> tensor<1x5xf32>
  return %y : tensor<1x5xf32>
}

// CHECK-LABEL: @scatter_elements_add()
// CHECK-NEXT: dense<{{\[\[}}1.000000e+00, 1.250000e+01, 3.000000e+00, 1.100000e+01, 5.000000e+00]]> : tensor<1x5xf32>
func.func @scatter_elements_add() -> (tensor<1x5xf32>) {
  %x = dlc.constant dense<[[1.000000000e+00, 2.000000000e+00, 3.000000000e+00, 4.000000000e+00, 5.000000000e+00]]> : tensor<1x5xf32>
  %i = dlc.constant dense<[[1, 1, -2]]> : tensor<1x3xi64>
  %u = dlc.constant dense<[[1.000000000e+01, 5.000000000e-01, 7.000000000e+00]]> : tensor<1x3xf32>
  %y = dlc.scatter_elements add 1 %x, %i, %u : (tensor<1x5xf32>, tensor<1x3xi64>, tensor<1x3xf32>) -> tensor<1x5xf32>
  return %y : tensor<1x5xf32>
}

// CHECK-LABEL: @scatter_elements_mul()
// CHECK-NEXT: dense<{{\[\[}}1.000000e+00, 1.000000e+01, 3.000000e+00, 2.800000e+01, 5.000000e+00]]> : tensor<1x5xf32>
func.func @scatter_elements_mul() -> (tensor<1x5xf32>) {
  %x = dlc.constant dense<[[1.000000000e+00, 2.000000000e+00, 3.000000000e+00, 4.000000000e+00, 5.000000000e+00]]> : tensor<1x5xf32>
  %i = dlc.constant dense<[[1, 1, -2]]> : tensor<1x3xi64>
  %u = dlc.constant dense<[[1.000000000e+01, 5.000000000e-01, 7.000000000e+00]]> : tensor<1x3xf32>
  %y = dlc.scatter_elements mul 1 %x, %i, %u : (tensor<1x5xf32>, tensor<1x3xi64>, tensor<1x3xf32>) -> tensor<1x5xf32>
  return %y : tensor<1x5xf32>
}

// CHECK-LABEL: @scatter_elements_max()
// CHECK-NEXT: dense<{{\[\[}}1.000000e+00, 1.000000e+01, 3.000000e+00, 7.000000e+00, 5.000000e+00]]> : tensor<1x5xf32>
func.func @scatter_elements_max() -> (tensor<1x5xf32>) {
  %x = dlc.constant dense<[[1.000000000e+00, 2.000000000e+00, 3.000000000e+00, 4.000000000e+00, 5.000000000e+00]]> : tensor<1x5xf32>
  %i = dlc.constant dense<[[1, 1, -2]]> : tensor<1x3xi64>
  %u = dlc.constant dense<[[1.000000000e+01, 5.000000000e-01, 7.000000000e+00]]> : tensor<1x3xf32>
  %y = dlc.scatter_elements max 1 %x, %i, %u : (tensor<1x5xf32>, tensor<1x3xi64>, tensor<1x3xf32>) -> tensor<1x5xf32>
  return %y : tensor<1x5xf32>
}

// CHECK-LABEL: @scatter_elements_min()
// CHECK-NEXT: dense<{{\[\[}}1.000000e+00, 5.000000e-01, 3.000000e+00, 4.000000e+00, 5.000000e+00]]> : tensor<1x5xf32>
func.func @scatter_elements_min() -> (tensor<1x5xf32>) {
  %x = dlc.constant dense<[[1.000000000e+00, 2.000000000e+00, 3.000000000e+00, 4.000000000e+00, 5.000000000e+00]]> : tensor<1x5xf32>
  %i = dlc.constant dense<[[1, 1, -2]]> : tensor<1x3xi64>
  %u = dlc.constant dense<[[1.000000000e+01, 5.000000000e-01, 7.000000000e+00]]> : tensor<1x3xf32>
  %y = dlc.scatter_elements min 1 %x, %i, %u : (tensor<1x5xf32>, tensor<1x3xi64>, tensor<1x3xf32>) -> tensor<1x5xf32>
  return %y : tensor<1x5xf32>
}

// CHECK-LABEL: @scatter_nd_none()
// CHECK-NEXT: dense<{{\[\[}}3, 4], [2, 2], [5, 6]]> : tensor<3x2xi32>
func.func @scatter_nd_none() -> (tensor<3x2xi32>) {
  %x = dlc.constant dense<[[1, 1], [2, 2], [3, 3]]> : tensor<3x2xi32>
  %i = dlc.constant dense<[[2], [0], [2]]> : tensor<3x1xi64>
  %u = dlc.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %y = dlc.scatter_nd none %x, %i, %u : (tensor<3x2xi32>, tensor<3x1xi64>, tensor<3x2xi32>) -> tensor<3x2xi32>
  return %y : tensor<3x2xi32>
}

// CHECK-LABEL: @scatter_nd_add()
// CHECK-NEXT: dense<{{\[\[}}4, 5], [2, 2], [9, 11]]> : tensor<3x2xi32>
func.func @scatter_nd_add() -> (tensor<3x2xi32>) {
  %x = dlc.constant dense<[[1, 1], [2, 2], [3, 3]]> : tensor<3x2xi32>
  %i = dlc.constant dense<[[2], [0], [2]]> : tensor<3x1xi64>
  %u = dlc.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %y = dlc.scatter_nd add %x, %i, %u : (tensor<3x2xi32>, tensor<3x1xi64>, tensor<3x2xi32>) -> tensor<3x2xi32>
  return %y : tensor<3x2xi32>
}

// CHECK-LABEL: @scatter_nd_mul()
// CHECK-NEXT: dense<{{\[\[}}3, 4], [2, 2], [15, 36]]> : tensor<3x2xi32>
func.func @scatter_nd_mul() -> (tensor<3x2xi32>) {
  %x = dlc.constant dense<[[1, 1], [2, 2], [3, 3]]> : tensor<3x2xi32>
  %i = dlc.constant dense<[[2], [0], [2]]> : tensor<3x1xi64>
  %u = dlc.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %y = dlc.scatter_nd mul %x, %i, %u : (tensor<3x2xi32>, tensor<3x1xi64>, tensor<3x2xi32>) -> tensor<3x2xi32>
  return %y : tensor<3x2xi32>
}

// CHECK-LABEL: @scatter_nd_max()
// CHECK-NEXT: dense<{{\[\[}}3, 4], [2, 2], [5, 6]]> : tensor<3x2xi32>
func.func @scatter_nd_max() -> (tensor<3x2xi32>) {
  %x = dlc.constant dense<[[1, 1], [2, 2], [3, 3]]> : tensor<3x2xi32>
  %i = dlc.constant dense<[[2], [0], [2]]> : tensor<3x1xi64>
  %u = dlc.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %y = dlc.scatter_nd max %x, %i, %u : (tensor<3x2xi32>, tensor<3x1xi64>, tensor<3x2xi32>) -> tensor<3x2xi32>
  return %y : tensor<3x2xi32>
}

// CHECK-LABEL: @scatter_nd_min()
// CHECK-NEXT: dense<{{\[\[}}1, 1], [2, 2], [1, 2]]> : tensor<3x2xi32>
func.func @scatter_nd_min() -> (tensor<3x2xi32>) {
  %x = dlc.constant dense<[[1, 1], [2, 2], [3, 3]]> : tensor<3x2xi32>
  %i = dlc.constant dense<[[2], [0], [2]]> : tensor<3x1xi64>
  %u = dlc.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %y = dlc.scatter_nd min %x, %i, %u : (tensor<3x2xi32>, tensor<3x1xi64>, tensor<3x2xi32>) -> tensor<3x2xi32>
  return %y : tensor<3x2xi32>
}

// CHECK-LABEL: @scatter_nd_elements()
// CHECK-NEXT: dense<{{\[\[\[}}0.000000e+00, 1.000000e+00], [2.000000e+00, -1.000000e+00]], {{\[\[}}4.000000e+00, -2.000000e+00], [6.000000e+00, 7.000000e+00]]]> : tensor<2x2x2xf32>
func.func @scatter_nd_elements() -> (tensor<2x2x2xf32>) {
  %x = dlc.constant dense<[[[0.000000000e+00, 1.000000000e+00], [2.000000000e+00, 3.000000000e+00]], [[4.000000000e+00, 5.000000000e+00], [6.000000000e+00, 7.000000000e+00]]]> : tensor<2x2x2xf32>
  %i = dlc.constant dense<[[0, 1, 1], [1, 0, -1]]> : tensor<2x3xi32>
  %u = dlc.constant dense<[-1.000000000e+00, -2.000000000e+00]> : tensor<2xf32>
  %y = dlc.scatter_nd none %x, %i, %u : (tensor<2x2x2xf32>, tensor<2x3xi32>, tensor<2xf32>) -> tensor<2x2x2xf32>
  return %y : tensor<2x2x2xf32>
}
