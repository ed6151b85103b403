// Gathers and scatters: text and accepted types.
// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-opt %s --mlir-print-op-generic | dlc-opt | FileCheck %s

// CHECK-LABEL: func @gather
func.func @gather(%x: tensor<5x6x7xf32>, %i: tensor<2x3xi64>, %s: tensor<i32>, %d: tensor<?xi64>) {
  // CHECK: dlc.gather 1 %{{.*}}, %{{.*}} : (tensor<5x6x7xf32>, tensor<2x3xi64>) -> tensor<5x2x3x7xf32>
  %0 = dlc.gather 1 %x, %i : (tensor<5x6x7xf32>, tensor<2x3xi64>) -> tensor<5x2x3x7xf32>
  // CHECK: dlc.gather 0 %{{.*}}, %{{.*}} : (tensor<5x6x7xf32>, tensor<i32>) -> tensor<6x7xf32>
  %1 = dlc.gather 0 %x, %s : (tensor<5x6x7xf32>, tensor<i32>) -> tensor<6x7xf32>
  // CHECK: dlc.gather 2 %{{.*}}, %{{.*}} : (tensor<5x6x7xf32>, tensor<?xi64>) -> tensor<5x6x?xf32>
  %2 = dlc.gather 2 %x, %d : (tensor<5x6x7xf32>, tensor<?xi64>) -> tensor<5x6x?xf32>
  return
}

// CHECK-LABEL: func @gather_elements
func.func @gather_elements(%x: tensor<5x6xf32>, %i: tensor<5x9xi64>) {
  // CHECK: dlc.gather_elements 1 %{{.*}}, %{{.*}} : (tensor<5x6xf32>, tensor<5x9xi64>) -> tensor<5x9xf32>
  %0 = dlc.gather_elements 1 %x, %i : (tensor<5x6xf32>, tensor<5x9xi64>) -> tensor<5x9xf32>
  return
}

// CHECK-LABEL: func @gather_nd
func.func @gather_nd(%x: tensor<5x6x7xf32>, %i: tensor<4x2xi64>, %b: tensor<5x3x1xi64>) {
  // CHECK: dlc.gather_nd %{{.*}}, %{{.*}} {batch_dims = 0 : i64} : (tensor<5x6x7xf32>, tensor<4x2xi64>) -> tensor<4x7xf32>
  %0 = dlc.gather_nd %x, %i {batch_dims = 0 : i64} : (tensor<5x6x7xf32>, tensor<4x2xi64>) -> tensor<4x7xf32>
  // CHECK: dlc.gather_nd %{{.*}}, %{{.*}} {batch_dims = 1 : i64} : (tensor<5x6x7xf32>, tensor<5x3x1xi64>) -> tensor<5x3x7xf32>
  %1 = dlc.gather_nd %x, %b {batch_dims = 1 : i64} : (tensor<5x6x7xf32>, tensor<5x3x1xi64>) -> tensor<5x3x7xf32>
  return
}

// CHECK-LABEL: func @scatter
func.func @scatter(%x: tensor<5x6xf32>, %i: tensor<2x6xi64>, %u: tensor<2x6xf32>, %n: tensor<3x1xi64>, %v: tensor<3x6xf32>) {
  // CHECK: dlc.scatter_elements none 0 %{{.*}}, %{{.*}}, %{{.*}} : (tensor<5x6xf32>, tensor<2x6xi64>, tensor<2x6xf32>) -> tensor<5x6xf32>
  %0 = dlc.scatter_elements none 0 %x, %i, %u : (tensor<5x6xf32>, tensor<2x6xi64>, tensor<2x6xf32>) -> tensor<5x6xf32>
  // CHECK: dlc.scatter_elements max 0 %{{.*}}, %{{.*}}, %{{.*}} : (tensor<5x6xf32>, tensor<2x6xi64>, tensor<2x6xf32>) -> tensor<5x6xf32>
  %1 = dlc.scatter_elements max 0 %x, %i, %u : (tensor<5x6xf32>, tensor<2x6xi64>, tensor<2x6xf32>) -> tensor<5x6xf32>
  // CHECK: dlc.scatter_nd add %{{.*}}, %{{.*}}, %{{.*}} : (tensor<5x6xf32>, tensor<3x1xi64>, tensor<3x6xf32>) -> tensor<5x6xf32>
  %2 = dlc.scatter_nd add %x, %n, %v : (tensor<5x6xf32>, tensor<3x1xi64>, tensor<3x6xf32>) -> tensor<5x6xf32>
  return
}
