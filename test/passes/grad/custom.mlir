// Custom gradients: the computation on placeholders is part of the backward pass.
// RUN: dlc-opt %s --dlc-grad --dlc-simplify | FileCheck %s

// The value is round(x); its gradient is twice the gradient of the result.
// CHECK-LABEL: func.func @straight_through
// CHECK-SAME: (%[[X:.*]]: tensor<3xf32>)
// CHECK: %[[TWO:.*]] = dlc.constant dense<2.000000e+00>
// CHECK-NOT: dlc.cotangent
// CHECK-NOT: dlc.custom_gradient
// CHECK: %[[Y:.*]] = dlc.round %[[X]]
// CHECK: %[[D:.*]] = dlc.mul {{.*}}%[[TWO]]
// CHECK: return %[[Y]]
func.func @straight_through(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %y = dlc.round %x : (tensor<3xf32>) -> tensor<3xf32>
  %dy = dlc.cotangent %y : (tensor<3xf32>) -> tensor<3xf32>
  %two = dlc.constant dense<2.0> : tensor<f32>
  %dx = dlc.mul %dy, %two : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %z = dlc.custom_gradient(%y) of(%dy) in(%x) is(%dx) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %q = dlc.mul %z, %z : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %s = dlc.reduce sum %q axes [0] : (tensor<3xf32>) -> tensor<f32>
  %g = dlc.gradient(%s) in (%x) : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  return %z, %g : tensor<3xf32>, tensor<3xf32>
}
