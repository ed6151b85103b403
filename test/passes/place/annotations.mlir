// Devices of annotated operations, and the derived devices of the others.
// RUN: dlc-opt %s --dlc-place --dlc-verify-placement --split-input-file | FileCheck %s

// (a+b)-(b+c): b and c are transferred once, as early as possible; the sum is transferred back.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[A:.*]]: tensor<4xf32, #dlc.on<cpu>>, %[[B:.*]]: tensor<4xf32, #dlc.on<cpu>>, %[[C:.*]]: tensor<4xf32, #dlc.on<cpu>>
// CHECK-DAG: %[[B1:.*]] = dlc.transfer %[[B]] : {{.*}} -> tensor<4xf32, #dlc.on<cpu:1>>
// CHECK-DAG: %[[C1:.*]] = dlc.transfer %[[C]] : {{.*}} -> tensor<4xf32, #dlc.on<cpu:1>>
// CHECK: %[[AB:.*]] = dlc.add %[[A]], %[[B]] : {{.*}} -> tensor<4xf32, #dlc.on<cpu>>
// CHECK-NEXT: %[[BC1:.*]] = dlc.add %[[B1]], %[[C1]] : {{.*}} -> tensor<4xf32, #dlc.on<cpu:1>>
// CHECK-NEXT: %[[BC:.*]] = dlc.transfer %[[BC1]] : {{.*}} -> tensor<4xf32, #dlc.on<cpu>>
// CHECK-NEXT: %[[Y:.*]] = dlc.sub %[[AB]], %[[BC]] : {{.*}} -> tensor<4xf32, #dlc.on<cpu>>
// CHECK-NOT: {dlc.device
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dlc.add %a, %b {dlc.device = "cpu"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = dlc.add %b, %c {dlc.device = "cpu:1"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = dlc.sub %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Inputs and outputs with annotated devices.
// CHECK-LABEL: func.func @ends
// CHECK-SAME: (%{{.*}}: tensor<4xf32, #dlc.on<cpu:1>>) -> (tensor<4xf32, #dlc.on<cpu:2>>, tensor<4xf32, #dlc.on<cpu>>)
func.func @ends(%a: tensor<4xf32> {dlc.device = "cpu:1"}) -> (tensor<4xf32> {dlc.device = "cpu:2"}, tensor<4xf32>) {
  %0 = dlc.neg %a : (tensor<4xf32>) -> tensor<4xf32>
  // One transfer to each device.
  // CHECK-COUNT-2: dlc.transfer
  // CHECK-NOT: dlc.transfer
  return %0, %0 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A small value is transferred instead of a large one: its producer is on the device of the operand.
// CHECK-LABEL: func.func @narrow
func.func @narrow(%a: tensor<64xf32>) -> tensor<4xf32> {
  %0 = dlc.neg %a {dlc.device = "cpu:1"} : (tensor<64xf32>) -> tensor<64xf32>
  // CHECK: dlc.slice {{.*}} -> tensor<4xf32, #dlc.on<cpu:1>>
  // CHECK-NEXT: dlc.transfer {{.*}} -> tensor<4xf32, #dlc.on<cpu>>
  // CHECK-NEXT: dlc.relu {{.*}} -> tensor<4xf32, #dlc.on<cpu>>
  %1 = dlc.slice %0 start [0] size [4] stride [1] : (tensor<64xf32>) -> tensor<4xf32>
  %2 = dlc.relu %1 : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Two users on the other device share one transfer.
// CHECK-LABEL: func.func @shared
func.func @shared(%a: tensor<4xf32>) -> (tensor<4xf32> {dlc.device = "cpu:1"}, tensor<4xf32> {dlc.device = "cpu:1"}) {
  // CHECK: dlc.transfer %{{.*}} -> tensor<4xf32, #dlc.on<cpu:1>>
  // CHECK-NOT: dlc.transfer
  %0 = dlc.neg %a : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dlc.relu %a : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Transfers of scalars cost nothing, so that scalars do not influence the placement.
// CHECK-LABEL: func.func @scalar
func.func @scalar(%a: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  // CHECK: %[[S:.*]] = dlc.transfer %{{.*}} : (tensor<f32, #dlc.on<cpu>>) -> tensor<f32, #dlc.on<cpu:1>>
  // CHECK: dlc.mul %{{.*}}, %[[S]] : (tensor<4xf32, #dlc.on<cpu:1>>, tensor<f32, #dlc.on<cpu:1>>)
  %0 = dlc.neg %a {dlc.device = "cpu:1"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dlc.mul %0, %s {dlc.device = "cpu:1"} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A constant is placed on each device that uses it; the blob is shared.
// CHECK-LABEL: func.func @constants
func.func @constants(%a: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK-DAG: %[[W0:.*]] = dlc.constant dense_resource<w> : tensor<3xf32, #dlc.on<cpu>>
  // CHECK-DAG: %[[W1:.*]] = dlc.constant dense_resource<w> : tensor<3xf32, #dlc.on<cpu:1>>
  %w = dlc.constant dense_resource<w> : tensor<3xf32>
  // CHECK: dlc.add %{{.*}}, %[[W1]]
  // CHECK-NOT: dlc.transfer %[[W0]]
  // CHECK: dlc.mul %{{.*}}, %[[W0]]
  %0 = dlc.add %a, %w {dlc.device = "cpu:1"} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = dlc.mul %0, %w {dlc.device = "cpu"} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F0000004000004040"
    }
  }
#-}

// -----

// A parameter is on the device that uses it: no transfer in the step.
// CHECK-LABEL: func.func @parameter
// CHECK-SAME: tensor<8x8xf32, #dlc.on<cpu:1>> {dlc.name = "w", dlc.parameter}
func.func @parameter(%w: tensor<8x8xf32> {dlc.name = "w", dlc.parameter}, %x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %0 = dlc.matmul %x, %w {dlc.device = "cpu:1"} : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// -----

// State is on the device on which its next value is computed; readers on other devices get it by a transfer.
// CHECK-LABEL: func.func @state
// CHECK-SAME: tensor<4xf32, #dlc.on<cpu:1>> {dlc.name = "s", dlc.state}
// CHECK-SAME: -> (tensor<4xf32, #dlc.on<cpu>>, tensor<4xf32, #dlc.on<cpu:1>> {dlc.name = "s", dlc.state})
func.func @state(%s: tensor<4xf32> {dlc.name = "s", dlc.state}, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32> {dlc.name = "s", dlc.state}) {
  // CHECK: dlc.transfer %{{.*}} : (tensor<4xf32, #dlc.on<cpu:1>>) -> tensor<4xf32, #dlc.on<cpu>>
  %0 = dlc.mul %s, %x {dlc.device = "cpu"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = dlc.add %s, %x {dlc.device = "cpu:1"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// An operation that is already placed keeps its device, like an annotated one.
// CHECK-LABEL: func.func @mixed
// CHECK-SAME: -> tensor<4xf32, #dlc.on<cpu>>
func.func @mixed(%a: tensor<4xf32, #dlc.on<cpu:2>>) -> tensor<4xf32> {
  // CHECK: dlc.neg %{{.*}} -> tensor<4xf32, #dlc.on<cpu:2>>
  // CHECK: dlc.transfer %{{.*}} : (tensor<4xf32, #dlc.on<cpu:2>>) -> tensor<4xf32, #dlc.on<cpu:1>>
  // CHECK: dlc.transfer %{{.*}} : (tensor<4xf32, #dlc.on<cpu:1>>) -> tensor<4xf32, #dlc.on<cpu>>
  %0 = dlc.neg %a : (tensor<4xf32, #dlc.on<cpu:2>>) -> tensor<4xf32, #dlc.on<cpu:2>>
  %i = dlc.iota 0 {dlc.device = "cpu:1"} : tensor<4xf32>
  %1 = dlc.transfer %0 : (tensor<4xf32, #dlc.on<cpu:2>>) -> tensor<4xf32, #dlc.on<cpu:1>>
  %2 = dlc.mul %1, %1 : (tensor<4xf32, #dlc.on<cpu:1>>, tensor<4xf32, #dlc.on<cpu:1>>) -> tensor<4xf32, #dlc.on<cpu:1>>
  %3 = dlc.fusion(%x = %2) : (tensor<4xf32, #dlc.on<cpu:1>>) -> tensor<4xf32> {
    %4 = dlc.constant dense<1.0> : tensor<4xf32>
    dlc.yield %4 : tensor<4xf32>
  }
  return %3 : tensor<4xf32>
}

// -----

// A layer's gradient is on the layer's device: its name contains the layer's name.
// CHECK-LABEL: func.func @remembered
func.func @remembered(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: dlc.neg %{{.*}} -> tensor<4xf32, #dlc.on<cpu:1>>
  %0 = dlc.neg %a : (tensor<4xf32>) -> tensor<4xf32> loc(#layer)
  return %0 : tensor<4xf32>
}
#where = loc(fused<#dlc.on<cpu:1>>["net.cpp":3:4])
#layer = loc("gradient of hidden"(#where))
