// Transfers: once, early, outside of loops, folded where they lead nowhere.
// RUN: dlc-opt %s --dlc-place --dlc-verify-placement --split-input-file | FileCheck %s

// What a loop reads from outside goes over in front of it; the loop stands wholly on one device.
// CHECK-LABEL: func.func @loop
func.func @loop(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %n = dlc.constant dense<3> : tensor<i64>
  // CHECK: dlc.transfer
  // CHECK: dlc.transfer
  // CHECK: dlc.loop
  %y = dlc.loop trip(%n : tensor<i64>) inits(%x : tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %c: tensor<4xf32>):
    // CHECK: ^bb0(%{{.*}}: tensor<i64, #dlc.on<cpu:1>>, %{{.*}}: tensor<4xf32, #dlc.on<cpu:1>>):
    // CHECK-NOT: dlc.transfer
    // CHECK: dlc.yield
    %d = dlc.add %c, %w {dlc.device = "cpu:1"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    dlc.yield %d : tensor<4xf32>
  }
  // CHECK: dlc.transfer %{{.*}} -> tensor<4xf32, #dlc.on<cpu>>
  return %y : tensor<4xf32>
}

// -----

// Both branches, and their constants, are where the operation is.
// CHECK-LABEL: func.func @branch
func.func @branch(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: dlc.if %{{.*}} : (tensor<i1, #dlc.on<cpu:1>>) -> tensor<4xf32, #dlc.on<cpu:1>>
  // CHECK: dlc.constant dense<1.000000e+00> : tensor<4xf32, #dlc.on<cpu:1>>
  %y = dlc.if %c : (tensor<i1>) -> tensor<4xf32> {
    dlc.yield %x : tensor<4xf32>
  } else {
    %one = dlc.constant dense<1.0> : tensor<4xf32>
    dlc.yield %one : tensor<4xf32>
  } {dlc.device = "cpu:1"}
  return %y : tensor<4xf32>
}

// -----

// There and back is nowhere.
// CHECK-LABEL: func.func @back
// CHECK-NOT: dlc.transfer
// CHECK: dlc.neg %arg0
func.func @back(%x: tensor<4xf32, #dlc.on<cpu>>) -> tensor<4xf32, #dlc.on<cpu>> {
  %0 = dlc.transfer %x : (tensor<4xf32, #dlc.on<cpu>>) -> tensor<4xf32, #dlc.on<cpu:1>>
  %1 = dlc.transfer %0 : (tensor<4xf32, #dlc.on<cpu:1>>) -> tensor<4xf32, #dlc.on<cpu>>
  %2 = dlc.neg %1 : (tensor<4xf32, #dlc.on<cpu>>) -> tensor<4xf32, #dlc.on<cpu>>
  return %2 : tensor<4xf32, #dlc.on<cpu>>
}

// -----

// Written twice, and late, inside a loop: one, in front.
// CHECK-LABEL: func.func @written
func.func @written(%x: tensor<4xf32, #dlc.on<cpu>>, %n: tensor<i64, #dlc.on<cpu>>) -> tensor<4xf32, #dlc.on<cpu:1>> {
  // CHECK: %[[X:.*]] = dlc.transfer %arg0
  // CHECK-NOT: dlc.transfer %arg0
  // CHECK: dlc.loop
  %0 = dlc.transfer %x : (tensor<4xf32, #dlc.on<cpu>>) -> tensor<4xf32, #dlc.on<cpu:1>>
  %y = dlc.loop trip(%n : tensor<i64, #dlc.on<cpu>>) inits(%0 : tensor<4xf32, #dlc.on<cpu:1>>) -> (tensor<4xf32, #dlc.on<cpu:1>>) {
  ^bb0(%i: tensor<i64, #dlc.on<cpu:1>>, %c: tensor<4xf32, #dlc.on<cpu:1>>):
    %1 = dlc.transfer %x : (tensor<4xf32, #dlc.on<cpu>>) -> tensor<4xf32, #dlc.on<cpu:1>>
    // CHECK: dlc.add %{{.*}}, %[[X]]
    %d = dlc.add %c, %1 : (tensor<4xf32, #dlc.on<cpu:1>>, tensor<4xf32, #dlc.on<cpu:1>>) -> tensor<4xf32, #dlc.on<cpu:1>>
    dlc.yield %d : tensor<4xf32, #dlc.on<cpu:1>>
  }
  return %y : tensor<4xf32, #dlc.on<cpu:1>>
}

// -----

// A constant is elsewhere without a transfer.
// CHECK-LABEL: func.func @constant
// CHECK-NOT: dlc.transfer
// CHECK: dlc.constant dense<{{.*}}> : tensor<2xf32, #dlc.on<cpu:1>>
func.func @constant() -> tensor<2xf32, #dlc.on<cpu:1>> {
  %c = dlc.constant dense<[1.0, 2.0]> : tensor<2xf32, #dlc.on<cpu>>
  %0 = dlc.transfer %c : (tensor<2xf32, #dlc.on<cpu>>) -> tensor<2xf32, #dlc.on<cpu:1>>
  return %0 : tensor<2xf32, #dlc.on<cpu:1>>
}
