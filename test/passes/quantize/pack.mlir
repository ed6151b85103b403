// 4-bit integers are stored in bytes.
// RUN: dlc-opt %s -dlc-pack-integers | FileCheck %s
// RUN: dlc-opt %s -dlc-pack-integers | FileCheck %s --check-prefix=NONE
// NONE-NOT: to i4

// Arguments and results are bytes, whose packed types remain in an attribute.
// CHECK-LABEL: @interface
// CHECK-SAME: %arg0: tensor<3x3xui8> {dlc.name = "x", dlc.packed = tensor<3x5xi4>}
// CHECK-SAME: -> (tensor<3x3xui8> {dlc.packed = tensor<3x5xi4>})
// CHECK-NEXT: return %arg0 : tensor<3x3xui8>
func.func @interface(%x: tensor<3x5xi4> {dlc.name = "x"}) -> tensor<3x5xi4> {
  return %x : tensor<3x5xi4>
}

// CHECK-LABEL: @unpack
// CHECK-DAG: %[[S:.*]] = dlc.constant dense<[4, 0]> : tensor<2xi8>
// CHECK-DAG: %[[FOUR:.*]] = dlc.constant dense<4> : tensor<i8>
// CHECK-DAG: %[[B:.*]] = dlc.cast %arg0 to i8
// CHECK-DAG: %[[P:.*]] = dlc.reshape %[[B]] : (tensor<3x3xi8>) -> tensor<3x3x1xi8>
// CHECK-DAG: %[[L:.*]] = dlc.shift_left %[[P]], %[[S]]
// CHECK-DAG: %[[R:.*]] = dlc.shift_right %[[L]], %[[FOUR]]
// CHECK-DAG: %[[E:.*]] = dlc.reshape %[[R]] : (tensor<3x3x2xi8>) -> tensor<3x6xi8>
// CHECK-DAG: %[[X:.*]] = dlc.slice %[[E]] start [0, 0] size [3, 5]
// CHECK-DAG: dlc.cast %[[X]] to f32
func.func @unpack(%x: tensor<3x5xi4>) -> tensor<3x5xf32> {
  %0 = dlc.cast %x to f32 : (tensor<3x5xi4>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// CHECK-LABEL: @pack
// CHECK-DAG: %[[B:.*]] = dlc.cast %arg0 to ui8
// CHECK: dlc.max
// CHECK: dlc.min
// CHECK: %[[P:.*]] = dlc.reshape %{{.*}} : (tensor<6xui8>) -> tensor<3x2xui8>
// CHECK-DAG: %[[L:.*]] = dlc.slice %[[P]] start [0, 0]
// CHECK-DAG: %[[H:.*]] = dlc.slice %[[P]] start [0, 1]
// CHECK-DAG: %[[LOW:.*]] = dlc.and %[[L]]
// CHECK-DAG: %[[HIGH:.*]] = dlc.shift_left %[[H]]
// CHECK: dlc.or %[[LOW]], %[[HIGH]]
func.func @pack(%x: tensor<6xf32>) -> tensor<6xui4> {
  %0 = dlc.cast %x to ui4 : (tensor<6xf32>) -> tensor<6xui4>
  return %0 : tensor<6xui4>
}

// Packed values are not unpacked again.
// CHECK-LABEL: @through
// CHECK: %[[N:.*]] = dlc.shift_right
// CHECK: %[[Y:.*]] = dlc.cast %[[N]] to f32
// CHECK: return %[[Y]]
func.func @through(%x: tensor<6xi8>) -> tensor<6xf32> {
  %0 = dlc.cast %x to i4 : (tensor<6xi8>) -> tensor<6xi4>
  %1 = dlc.cast %0 to f32 : (tensor<6xi4>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}

// CHECK-LABEL: @rows
// CHECK-DAG: dlc.constant dense<{{\[}}[31, 2], [67, 5]]> : tensor<2x2xui8>
// CHECK: dlc.gather 0 %{{.*}}, %arg0 : (tensor<2x2xui8>, tensor<4xi64>) -> tensor<4x2xui8>
// CHECK: dlc.if %arg1 : (tensor<i1>) -> tensor<4x2xui8>
func.func @rows(%i: tensor<4xi64>, %c: tensor<i1>, %x: tensor<4x3xi4>) -> tensor<4x3xi4> {
  %t = dlc.constant dense<[[-1, 1, 2], [3, 4, 5]]> : tensor<2x3xi4>
  %0 = dlc.gather 0 %t, %i : (tensor<2x3xi4>, tensor<4xi64>) -> tensor<4x3xi4>
  %1 = dlc.if %c : (tensor<i1>) -> tensor<4x3xi4> {
    dlc.yield %0 : tensor<4x3xi4>
  } else {
    dlc.yield %x : tensor<4x3xi4>
  }
  return %1 : tensor<4x3xi4>
}

// State keeps its initial value.
// CHECK-LABEL: @state
// CHECK-SAME: dlc.init = dense<[33, 3]> : tensor<2xui8>, dlc.name = "s", dlc.packed = tensor<3xui4>, dlc.state
func.func @state(%x: tensor<3xui4> {dlc.name = "s", dlc.state, dlc.init = dense<[1, 2, 3]> : tensor<3xui4>}) -> (tensor<3xui4> {dlc.name = "s", dlc.state}) {
  return %x : tensor<3xui4>
}
