// RUN: dlc-opt %s -dlc-grad -split-input-file -verify-diagnostics | FileCheck %s
// Gradients are those of the sum of all ranks' losses.

// CHECK-LABEL: @reduce
// CHECK: = dlc.add
// CHECK: %[[DY:.*]] = dlc.all_reduce mean %{{.*}} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[DX:.*]] = dlc.all_reduce sum %[[DY]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: return %[[DX]]
func.func @reduce(%x: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dlc.all_reduce sum %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dlc.all_reduce mean %0 : (tensor<4xf32>) -> tensor<4xf32>
  %y = dlc.mul %1, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %dx = dlc.gradient(%y) seeds(%x) in (%x) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %dx : tensor<4xf32>
}
// -----
// CHECK-LABEL: @rows
// CHECK: = dlc.add
// CHECK: %[[DS:.*]] = dlc.reduce_scatter sum %{{.*}} of 2 : (tensor<4xf32>) -> tensor<2xf32>
// CHECK: %[[DX:.*]] = dlc.all_gather %[[DS]] of 2 : (tensor<2xf32>) -> tensor<4xf32>
// CHECK: return %[[DX]]
func.func @rows(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dlc.reduce_scatter sum %x of 2 : (tensor<4xf32>) -> tensor<2xf32>
  %1 = dlc.all_gather %0 of 2 : (tensor<2xf32>) -> tensor<4xf32>
  %y = dlc.mul %1, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %dx = dlc.gradient(%y) seeds(%x) in (%x) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %dx : tensor<4xf32>
}
// -----
// CHECK-LABEL: @root
// CHECK: = dlc.add
// CHECK: %[[DB:.*]] = dlc.all_reduce sum %{{.*}} to 1 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[DX:.*]] = dlc.broadcast_ranks %[[DB]] from 2 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: return %[[DX]]
func.func @root(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dlc.all_reduce sum %x to 2 : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dlc.broadcast_ranks %0 from 1 : (tensor<4xf32>) -> tensor<4xf32>
  %y = dlc.mul %1, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %dx = dlc.gradient(%y) seeds(%x) in (%x) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %dx : tensor<4xf32>
}
// -----
func.func @max(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{dlc.all_reduce max has no gradient}}
  %y = dlc.all_reduce max %x : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @+1 {{the gradient is requested here}}
  %dx = dlc.gradient(%y) seeds(%x) in (%x) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %dx : tensor<4xf32>
}
// -----
// The shares of other ranks are zeros.
// CHECK-LABEL: @own
// CHECK: %[[RANK:.*]] = dlc.own_rows %{{.*}} of 2 : (tensor<2xi64>) -> tensor<1xi64>
// CHECK: dlc.compare  eq %[[RANK]]
// CHECK: %[[FIRST:.*]] = dlc.select
// CHECK: %[[SECOND:.*]] = dlc.select
// CHECK: %[[ROWS:.*]] = dlc.concat 0(%[[FIRST]], %[[SECOND]]) : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
// CHECK: dlc.slice %[[ROWS]] start [0] size [3]
// CHECK: dlc.slice %[[ROWS]] start [3] size [1]
func.func @own(%x: tensor<3xf32>, %y: tensor<1xf32>, %s: tensor<2xf32>) -> (tensor<3xf32>, tensor<1xf32>) {
  %0 = dlc.own_rows %x, %y of 2 : (tensor<3xf32>, tensor<1xf32>) -> tensor<2xf32>
  %dx, %dy = dlc.gradient(%0) seeds(%s) in (%x, %y) : (tensor<2xf32>, tensor<2xf32>, tensor<3xf32>, tensor<1xf32>) -> (tensor<3xf32>, tensor<1xf32>)
  return %dx, %dy : tensor<3xf32>, tensor<1xf32>
}
