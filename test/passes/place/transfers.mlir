// Transfers: once per device, early, outside of loops; pairs that cancel are folded.
// RUN: dlc-opt %s --dlc-place --dlc-verify-placement --split-input-file | FileCheck %s

// A value that a loop reads from outside is transferred before the loop; the whole loop is on one device.
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

// Both branches and their constants are on the device of the operation.
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

// A transfer to a device and back is folded.
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

// Two late transfers inside a loop become one before the loop.
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

// A constant is placed on another device without a transfer.
// CHECK-LABEL: func.func @constant
// CHECK-NOT: dlc.transfer
// CHECK: dlc.constant dense<{{.*}}> : tensor<2xf32, #dlc.on<cpu:1>>
func.func @constant() -> tensor<2xf32, #dlc.on<cpu:1>> {
  %c = dlc.constant dense<[1.0, 2.0]> : tensor<2xf32, #dlc.on<cpu>>
  %0 = dlc.transfer %c : (tensor<2xf32, #dlc.on<cpu>>) -> tensor<2xf32, #dlc.on<cpu:1>>
  return %0 : tensor<2xf32, #dlc.on<cpu:1>>
}
