// Branches, loops and fused regions: text and accepted types.
// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-opt %s --mlir-print-op-generic | dlc-opt | FileCheck %s

// CHECK-LABEL: func @branch
func.func @branch(%c: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<?xf32>) {
  // CHECK: %[[R:.*]]:2 = dlc.if %{{.*}} : (tensor<i1>) -> (tensor<4xf32>, tensor<?xf32>) {
  // CHECK-NEXT: %[[A:.*]] = dlc.abs
  // CHECK-NEXT: dlc.yield %[[A]], %{{.*}} : tensor<4xf32>, tensor<4xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: %[[E:.*]] = dlc.constant dense<> : tensor<0xf32>
  // CHECK-NEXT: dlc.yield %{{.*}}, %[[E]] : tensor<4xf32>, tensor<0xf32>
  // CHECK-NEXT: }
  %0:2 = dlc.if %c : (tensor<i1>) -> (tensor<4xf32>, tensor<?xf32>) {
    %1 = dlc.abs %x : (tensor<4xf32>) -> tensor<4xf32>
    dlc.yield %1, %x : tensor<4xf32>, tensor<4xf32>
  } else {
    %2 = dlc.constant dense<> : tensor<0xf32>
    dlc.yield %x, %2 : tensor<4xf32>, tensor<0xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<?xf32>
}

// CHECK-LABEL: func @counted
func.func @counted(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  %n = dlc.constant dense<3> : tensor<i64>
  // CHECK: dlc.loop trip(%{{.*}} : tensor<i64>) inits(%{{.*}} : tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<i64>, %[[V:.*]]: tensor<4xf32>):
  // CHECK-NEXT: %[[S:.*]] = dlc.add %[[V]], %[[V]]
  // CHECK-NEXT: dlc.yield %[[S]], %[[V]] : tensor<4xf32>, tensor<4xf32>
  %0:2 = dlc.loop trip(%n : tensor<i64>) inits(%x : tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  ^bb0(%i: tensor<i64>, %v: tensor<4xf32>):
    %1 = dlc.add %v, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    dlc.yield %1, %v : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<3x4xf32>
}

// CHECK-LABEL: func @conditional
func.func @conditional(%c: tensor<i1>, %n: tensor<i64>, %x: tensor<f32>) -> tensor<f32> {
  // CHECK: dlc.loop trip(%{{.*}} : tensor<i64>) while(%{{.*}} : tensor<i1>) inits(%{{.*}} : tensor<f32>) -> (tensor<f32>) {
  %0 = dlc.loop trip(%n : tensor<i64>) while(%c : tensor<i1>) inits(%x : tensor<f32>) -> (tensor<f32>) {
  ^bb0(%i: tensor<i64>, %v: tensor<f32>):
    %1 = dlc.compare lt %v, %x : (tensor<f32>, tensor<f32>) -> tensor<i1>
    dlc.yield %1, %v : tensor<i1>, tensor<f32>
  }
  // CHECK: dlc.loop while(%{{.*}} : tensor<i1>) inits() {
  dlc.loop while(%c : tensor<i1>) inits() {
  ^bb0(%i: tensor<i64>):
    dlc.yield %c : tensor<i1>
  }
  return %0 : tensor<f32>
}

// With an unknown trip count, the first dimension is dynamic.
// CHECK-LABEL: func @dynamic_trip
func.func @dynamic_trip(%n: tensor<i64>, %x: tensor<4xf32>) -> tensor<?x4xf32> {
  // CHECK: dlc.loop trip(%{{.*}}) inits() -> (tensor<?x4xf32>) {
  %0 = dlc.loop trip(%n : tensor<i64>) inits() -> (tensor<?x4xf32>) {
  ^bb0(%i: tensor<i64>):
    dlc.yield %x : tensor<4xf32>
  }
  return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func @fused
func.func @fused(%x: tensor<4xf32>, %y: tensor<f32>) -> tensor<4xf32> {
  // CHECK: dlc.fusion(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32> attributes {kind = "chain"} {
  // CHECK-NEXT: %[[M:.*]] = dlc.mul %[[A]], %[[B]]
  // CHECK-NEXT: dlc.yield %[[M]] : tensor<4xf32>
  %0 = dlc.fusion(%a = %x, %b = %y) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32> attributes {kind = "chain"} {
    %1 = dlc.mul %a, %b : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    dlc.yield %1 : tensor<4xf32>
  }
  // CHECK: dlc.fusion() : () -> (tensor<2xi64>, tensor<2xi64>) {
  %2:2 = dlc.fusion() : () -> (tensor<2xi64>, tensor<2xi64>) {
    %3 = dlc.iota 0 : tensor<2xi64>
    dlc.yield %3, %3 : tensor<2xi64>, tensor<2xi64>
  }
  return %0 : tensor<4xf32>
}
