// Rewrites that preserve values but not gradients are applied only after all dlc.gradient operations are expanded.
// RUN: dlc-opt %s --dlc-simplify --split-input-file | FileCheck %s
// RUN: dlc-opt %s --dlc-simplify --dlc-grad --dlc-simplify --split-input-file | FileCheck %s --check-prefix=AFTER

// Half of the gradient at 0 passes through the maximum, nothing through relu.
// CHECK-LABEL: @maximum
// CHECK: dlc.max %arg0
// CHECK-NOT: dlc.relu
// AFTER-LABEL: @maximum
// AFTER: %[[Y:.*]] = dlc.relu %arg0
// AFTER: return %[[Y]], %{{.*}}
func.func @maximum(%x: tensor<4xf32>, %dy: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = dlc.constant dense<0.0> : tensor<f32>
  %y = dlc.max %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d = dlc.gradient(%y) seeds(%dy) in (%x) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y, %d : tensor<4xf32>, tensor<4xf32>
}

// -----

// A strict maximum has the gradients of relu; a strict minimum is not changed before the gradient is expanded.
// CHECK-LABEL: @clamp
// CHECK: %[[LOW:.*]] = dlc.relu %arg0
// CHECK: dlc.min %[[LOW]], %{{.*}} {strict}
// AFTER-LABEL: @clamp
// AFTER: %[[LOW:.*]] = dlc.relu %arg0
// AFTER: dlc.min %[[LOW]], %{{[a-z0-9_]*}} :
func.func @clamp(%x: tensor<4xf32>, %dy: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = dlc.constant dense<0.0> : tensor<f32>
  %six = dlc.constant dense<6.0> : tensor<f32>
  %low = dlc.max %x, %zero {strict} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %y = dlc.min %low, %six {strict} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d = dlc.gradient(%y) seeds(%dy) in (%x) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y, %d : tensor<4xf32>, tensor<4xf32>
}

// -----

// Splitting a maximum into parts would distribute the gradient of ties differently; sums have no ties.
// CHECK-LABEL: @parts
// CHECK: %[[C:.*]] = dlc.concat
// CHECK: dlc.reduce max %[[C]]
// AFTER-LABEL: @parts
// AFTER: dlc.reduce max %arg0
// AFTER: dlc.reduce max %arg1
func.func @parts(%a: tensor<4xf32>, %b: tensor<2xf32>, %dy: tensor<f32>) -> (tensor<f32>, tensor<4xf32>) {
  %x = dlc.concat 0 (%a, %b) : (tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>
  %y = dlc.reduce max %x axes [0] : (tensor<6xf32>) -> tensor<f32>
  %z = dlc.add %a, %dy : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d = dlc.gradient(%z) seeds(%a) in (%a) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y, %d : tensor<f32>, tensor<4xf32>
}

// -----

// The element at the index gets the whole gradient.
// CHECK-LABEL: @at_the_index
// CHECK: %[[I:.*]] = dlc.arg_reduce max %arg0
// CHECK: dlc.gather_elements 1 %arg0, %[[I]]
// AFTER-LABEL: @at_the_index
// AFTER: dlc.reduce max %arg0
// AFTER-NOT: dlc.gather_elements
// AFTER: dlc.scatter_elements
func.func @at_the_index(%x: tensor<4x3xf32>, %dy: tensor<4x1xf32>) -> (tensor<4x1xf32>, tensor<4x3xf32>) {
  %i = dlc.arg_reduce max %x axis 1 keepdims : (tensor<4x3xf32>) -> tensor<4x1xi64>
  %y = dlc.gather_elements 1 %x, %i : (tensor<4x3xf32>, tensor<4x1xi64>) -> tensor<4x1xf32>
  %d = dlc.gradient(%y) seeds(%dy) in (%x) : (tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return %y, %d : tensor<4x1xf32>, tensor<4x3xf32>
}

// -----

// Without a gradient all of them are applied.
// CHECK-LABEL: @values
// CHECK-DAG: dlc.relu %arg0
// CHECK-DAG: dlc.min %arg0, %{{[a-z0-9_]*}} :
// CHECK-DAG: dlc.reduce max %arg0 axes [1] keepdims
// CHECK-NOT: strict
// CHECK-NOT: dlc.arg_reduce
func.func @values(%x: tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x1xf32>) {
  %zero = dlc.constant dense<0.0> : tensor<f32>
  %one = dlc.constant dense<1.0> : tensor<f32>
  %max = dlc.max %x, %zero : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  %min = dlc.min %x, %one {strict} : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  %i = dlc.arg_reduce max %x axis 1 keepdims : (tensor<4x3xf32>) -> tensor<4x1xi64>
  %y = dlc.gather_elements 1 %x, %i : (tensor<4x3xf32>, tensor<4x1xi64>) -> tensor<4x1xf32>
  return %max, %min, %y : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x1xf32>
}
