// Derivatives: text and accepted types.
// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-opt %s --mlir-print-op-generic | dlc-opt | FileCheck %s

// CHECK-LABEL: func @gradient
func.func @gradient(%y: tensor<f32>, %z: tensor<2xf32>, %s: tensor<2xf32>, %x: tensor<3xf32>, %w: tensor<1x1xf16>) {
  // CHECK: dlc.gradient(%{{.*}}) in(%{{.*}}) : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  %0 = dlc.gradient(%y) in (%x) : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  // CHECK: dlc.gradient(%{{.*}}) seeds(%{{.*}}) in(%{{.*}}, %{{.*}}) allow_unused : (tensor<2xf32>, tensor<2xf32>, tensor<3xf32>, tensor<1x1xf16>) -> (tensor<3xf32>, tensor<1x1xf16>)
  %1:2 = dlc.gradient(%z) seeds(%s) in (%x, %w) allow_unused : (tensor<2xf32>, tensor<2xf32>, tensor<3xf32>, tensor<1x1xf16>) -> (tensor<3xf32>, tensor<1x1xf16>)
  // CHECK: dlc.gradient(%{{.*}}, %{{.*}}) in(%{{.*}}) : (tensor<f32>, tensor<1x1xf16>, tensor<3xf32>) -> tensor<3xf32>
  %2 = dlc.gradient(%y, %w) in (%x) : (tensor<f32>, tensor<1x1xf16>, tensor<3xf32>) -> tensor<3xf32>
  return
}
