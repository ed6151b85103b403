// Folders of operations that move elements.
// RUN: dlc-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func @identities
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
func.func @identities(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>,
                                               tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %v = dlc.constant dense<0.0> : tensor<f32>
  %0 = dlc.reshape %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = dlc.broadcast %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = dlc.transpose %x [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = dlc.slice %x start [0, 0] size [2, 3] stride [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = dlc.pad constant %x, %v low [0, 0] high [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %5 = dlc.concat 1(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %t = dlc.transpose %x [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %6 = dlc.transpose %t [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func @chains
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>, %[[Y:.*]]: tensor<3x1xf32>)
func.func @chains(%x: tensor<2x3x4xf32>, %y: tensor<3x1xf32>) -> (tensor<24xf32>, tensor<4x2x3xf32>, tensor<5x3x4xf32>, tensor<2x3x4xf32>) {
  %0 = dlc.reshape %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  // CHECK-DAG: %[[A:.*]] = dlc.reshape %[[X]] : (tensor<2x3x4xf32>) -> tensor<24xf32>
  %1 = dlc.reshape %0 : (tensor<6x4xf32>) -> tensor<24xf32>
  %2 = dlc.transpose %x [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  // CHECK-DAG: %[[B:.*]] = dlc.transpose %[[X]] [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %3 = dlc.transpose %2 [2, 1, 0] : (tensor<3x2x4xf32>) -> tensor<4x2x3xf32>
  %4 = dlc.broadcast %y : (tensor<3x1xf32>) -> tensor<3x4xf32>
  // CHECK-DAG: %[[C:.*]] = dlc.broadcast %[[Y]] : (tensor<3x1xf32>) -> tensor<5x3x4xf32>
  %5 = dlc.broadcast %4 : (tensor<3x4xf32>) -> tensor<5x3x4xf32>
  %6 = dlc.reshape %1 : (tensor<24xf32>) -> tensor<2x3x4xf32>
  // CHECK: return %[[A]], %[[B]], %[[C]], %[[X]]
  return %1, %3, %5, %6 : tensor<24xf32>, tensor<4x2x3xf32>, tensor<5x3x4xf32>, tensor<2x3x4xf32>
}

// The elements of a blocked operand are not stored in the order of their indices: the two reshapes are not merged.
// CHECK-LABEL: func @blocked
// CHECK-COUNT-2: dlc.reshape
func.func @blocked(%x: tensor<8x16xf32, #dlc.on<cpu, aB8b>>) -> tensor<128xf32, #dlc.on<cpu>> {
  %0 = dlc.reshape %x : (tensor<8x16xf32, #dlc.on<cpu, aB8b>>) -> tensor<16x8xf32, #dlc.on<cpu>>
  %1 = dlc.reshape %0 : (tensor<16x8xf32, #dlc.on<cpu>>) -> tensor<128xf32, #dlc.on<cpu>>
  return %1 : tensor<128xf32, #dlc.on<cpu>>
}

// Equal constants are merged.
// CHECK-LABEL: func @constants
// CHECK-NEXT: %[[C:.*]] = dlc.constant dense<1.000000e+00> : tensor<2xf32>
// CHECK-NEXT: return %[[C]], %[[C]]
func.func @constants() -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = dlc.constant dense<1.0> : tensor<2xf32>
  %1 = dlc.constant dense<1.0> : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
