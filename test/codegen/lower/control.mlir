// RUN: dlc-opt %s -split-input-file -dlc-place -dlc-fuse -dlc-select -dlc-lower -dlc-plan-memory -dlc-verify-memory | FileCheck %s

// Carried values stay in one buffer from before the loop to after it; stacked results are copied row by row.
// CHECK-LABEL: exec.program @main
// CHECK: %[[TRIP:.*]] = exec.constant dense<3>
// CHECK: exec.loop trip %[[TRIP]]
// CHECK: exec.launch
// CHECK: exec.copy %{{.*}} to %{{.*}} bytes 16 {to_step = 16 : i64}
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  %trip = dlc.constant dense<3> : tensor<i64>
  %last, %all = dlc.loop trip(%trip : tensor<i64>) inits(%x : tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    %n = dlc.tanh %h : (tensor<4xf32>) -> tensor<4xf32>
    dlc.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  }
  return %last, %all : tensor<4xf32>, tensor<3x4xf32>
}

// -----

// CHECK-LABEL: exec.program @main
// CHECK: exec.if
// CHECK: exec.launch
// CHECK: else
// CHECK: exec.launch
func.func @main(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = dlc.if %c : (tensor<i1>) -> tensor<4xf32> {
    %a = dlc.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    dlc.yield %a : tensor<4xf32>
  } else {
    %b = dlc.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
    dlc.yield %b : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
