// Custom gradients: text and accepted types.
// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-opt %s --mlir-print-op-generic | dlc-opt | FileCheck %s

// CHECK-LABEL: func @custom
func.func @custom(%x: tensor<3xf32>, %w: tensor<2xf16>) -> tensor<3xf32> {
  // CHECK: %[[D:.*]] = dlc.cotangent %arg0 : (tensor<3xf32>) -> tensor<3xf32>
  %d = dlc.cotangent %x : (tensor<3xf32>) -> tensor<3xf32>
  // CHECK: dlc.custom_gradient(%arg0) of(%[[D]]) in(%arg1) is(%arg1) : (tensor<3xf32>, tensor<3xf32>, tensor<2xf16>, tensor<2xf16>) -> tensor<3xf32>
  %z = dlc.custom_gradient(%x) of(%d) in(%w) is(%w) : (tensor<3xf32>, tensor<3xf32>, tensor<2xf16>, tensor<2xf16>) -> tensor<3xf32>
  // CHECK: dlc.custom_gradient(%arg0) of(%[[D]]) in() is() : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %y = dlc.custom_gradient(%x) of(%d) in() is() : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %z : tensor<3xf32>
}
