// Matmuls: text and accepted types.
// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-opt %s --mlir-print-op-generic | dlc-opt | FileCheck %s

// CHECK-LABEL: func @matmul
func.func @matmul(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %p: tensor<5x1x3x2xi32>, %q: tensor<6x4x3xi32>, %d: tensor<?x?xf32>) {
  // CHECK: dlc.matmul %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %0 = dlc.matmul %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  // CHECK: dlc.matmul %{{.*}}, %{{.*}} transpose_a transpose_b : (tensor<5x1x3x2xi32>, tensor<6x4x3xi32>) -> tensor<5x6x2x4xi32>
  %1 = dlc.matmul %p, %q transpose_a transpose_b : (tensor<5x1x3x2xi32>, tensor<6x4x3xi32>) -> tensor<5x6x2x4xi32>
  // CHECK: dlc.matmul %{{.*}}, %{{.*}} : (tensor<?x?xf32>, tensor<3x4xf32>) -> tensor<?x4xf32>
  %2 = dlc.matmul %d, %b : (tensor<?x?xf32>, tensor<3x4xf32>) -> tensor<?x4xf32>
  return
}

// CHECK-LABEL: func @grouped
func.func @grouped(%a: tensor<5x3xf32>, %b: tensor<2x3x4xf32>, %t: tensor<2x4x3xf32>, %e: tensor<2xi32>, %l: tensor<?xi64>, %dy: tensor<5x4xf32>) {
  // CHECK: dlc.grouped_matmul %{{.*}}, %{{.*}} ends %{{.*}} : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<5x4xf32>
  %0 = dlc.grouped_matmul %a, %b ends %e : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<5x4xf32>
  // CHECK: dlc.grouped_matmul %{{.*}}, %{{.*}} ends %{{.*}} transpose_b : (tensor<5x3xf32>, tensor<2x4x3xf32>, tensor<?xi64>) -> tensor<5x4xf32>
  %1 = dlc.grouped_matmul %a, %t ends %l transpose_b : (tensor<5x3xf32>, tensor<2x4x3xf32>, tensor<?xi64>) -> tensor<5x4xf32>
  // CHECK: dlc.grouped_weight_grad %{{.*}}, %{{.*}} ends %{{.*}} : (tensor<5x3xf32>, tensor<5x4xf32>, tensor<2xi32>) -> tensor<2x3x4xf32>
  %2 = dlc.grouped_weight_grad %a, %dy ends %e : (tensor<5x3xf32>, tensor<5x4xf32>, tensor<2xi32>) -> tensor<2x3x4xf32>
  return
}
