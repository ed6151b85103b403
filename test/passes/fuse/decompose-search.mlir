// RUN: dlc-opt %s --dlc-place --dlc-decompose --split-input-file | FileCheck %s

// On CPUs, argmax and argmin are two vectorized passes.
// CHECK-LABEL: @first
// CHECK-DAG: %[[I:.*]] = dlc.iota 1 : tensor<1x21x1xf32
// CHECK-DAG: %[[M:.*]] = dlc.reduce {{ *}}max %arg0 axes [1] keepdims
// CHECK-DAG: %[[E:.*]] = dlc.compare {{ *}}eq %arg0, %[[M]]
// CHECK-DAG: %[[N:.*]] = dlc.is_nan %arg0
// CHECK: dlc.or %[[E]], %[[N]]
// CHECK: dlc.select
// CHECK: dlc.reduce {{ *}}min {{.*}} axes [1] keepdims
// CHECK: dlc.cast {{.*}} -> tensor<2x50xi64
func.func @first(%x: tensor<2x21x50xf32>) -> tensor<2x50xi64> {
  %y = dlc.arg_reduce max %x axis 1 : (tensor<2x21x50xf32>) -> tensor<2x50xi64>
  return %y : tensor<2x50xi64>
}

// -----

// Dimensions whose indices f32 cannot represent are not decomposed.
// CHECK-LABEL: @integers
// CHECK: dlc.arg_reduce
func.func @integers(%x: tensor<2x21xi64>) -> tensor<2xi64> {
  %y = dlc.arg_reduce min %x axis 1 : (tensor<2x21xi64>) -> tensor<2xi64>
  return %y : tensor<2xi64>
}

// -----

// Top-1 is a maximum and its index; NaN counts as largest in all of them. The smallest one is not a minimum, since a minimum propagates NaN.
// CHECK-LABEL: @one
// CHECK-NOT: dlc.topk
// CHECK: dlc.reduce {{ *}}max %arg0 axes [1] keepdims
// CHECK-NOT: dlc.topk
// CHECK: dlc.topk {{.*}}largest = false
func.func @one(%x: tensor<2x21x50xf32>) -> (tensor<2x1x50xf32>, tensor<2x1x50xi64>, tensor<2x1x50xf32>) {
  %v, %i = dlc.topk %x {k = 1 : i64, axis = 1 : i64} : (tensor<2x21x50xf32>) -> (tensor<2x1x50xf32>, tensor<2x1x50xi64>)
  %w, %j = dlc.topk %x {k = 1 : i64, axis = 1 : i64, largest = false} : (tensor<2x21x50xf32>) -> (tensor<2x1x50xf32>, tensor<2x1x50xi64>)
  return %v, %i, %w : tensor<2x1x50xf32>, tensor<2x1x50xi64>, tensor<2x1x50xf32>
}
