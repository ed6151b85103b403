// Folders of transfers and reorders.
// RUN: dlc-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func @there_and_back
// CHECK-SAME: (%[[X:.*]]: tensor
// CHECK-NEXT: return %[[X]], %[[X]]
func.func @there_and_back(%x: tensor<4xf32, #dlc.on<cpu>>) -> (tensor<4xf32, #dlc.on<cpu>>, tensor<4xf32, #dlc.on<cpu>>) {
  %0 = dlc.transfer %x : (tensor<4xf32, #dlc.on<cpu>>) -> tensor<4xf32, #dlc.on<cpu:1>>
  %1 = dlc.transfer %0 : (tensor<4xf32, #dlc.on<cpu:1>>) -> tensor<4xf32, #dlc.on<cpu>>
  %2 = dlc.transfer %x : (tensor<4xf32, #dlc.on<cpu>>) -> tensor<4xf32, #dlc.on<cpu>>
  return %1, %2 : tensor<4xf32, #dlc.on<cpu>>, tensor<4xf32, #dlc.on<cpu>>
}

// CHECK-LABEL: func @reorders
// CHECK-SAME: (%[[X:.*]]: tensor
// CHECK-NEXT: %[[A:.*]] = dlc.reorder %[[X]] : (tensor<8x16xf32, #dlc.on<cpu>>) -> tensor<8x16xf32, #dlc.on<cpu, ba>>
// CHECK-NEXT: return %[[X]], %[[A]]
func.func @reorders(%x: tensor<8x16xf32, #dlc.on<cpu>>) -> (tensor<8x16xf32, #dlc.on<cpu>>, tensor<8x16xf32, #dlc.on<cpu, ba>>) {
  %0 = dlc.reorder %x : (tensor<8x16xf32, #dlc.on<cpu>>) -> tensor<8x16xf32, #dlc.on<cpu, aB8b>>
  %1 = dlc.reorder %0 : (tensor<8x16xf32, #dlc.on<cpu, aB8b>>) -> tensor<8x16xf32, #dlc.on<cpu>>
  %2 = dlc.reorder %0 : (tensor<8x16xf32, #dlc.on<cpu, aB8b>>) -> tensor<8x16xf32, #dlc.on<cpu, ba>>
  return %1, %2 : tensor<8x16xf32, #dlc.on<cpu>>, tensor<8x16xf32, #dlc.on<cpu, ba>>
}

// The transfer of a constant becomes a constant on the other device that shares the blob.
// CHECK-LABEL: func @constant
// CHECK-NEXT: dlc.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32, #dlc.on<cpu:1>>
// CHECK-NEXT: return
func.func @constant() -> tensor<2xf32, #dlc.on<cpu:1>> {
  %0 = dlc.constant dense<[1.0, 2.0]> : tensor<2xf32, #dlc.on<cpu>>
  %1 = dlc.transfer %0 : (tensor<2xf32, #dlc.on<cpu>>) -> tensor<2xf32, #dlc.on<cpu:1>>
  return %1 : tensor<2xf32, #dlc.on<cpu:1>>
}

// The second transfer has another layout: a transfer is not replaced by a reorder.
// CHECK-LABEL: func @back_in_another_layout
// CHECK-COUNT-2: dlc.transfer
func.func @back_in_another_layout(%x: tensor<8x16xf32, #dlc.on<cpu>>) -> tensor<8x16xf32, #dlc.on<cpu, ba>> {
  %0 = dlc.transfer %x : (tensor<8x16xf32, #dlc.on<cpu>>) -> tensor<8x16xf32, #dlc.on<cpu:1>>
  %1 = dlc.transfer %0 : (tensor<8x16xf32, #dlc.on<cpu:1>>) -> tensor<8x16xf32, #dlc.on<cpu, ba>>
  return %1 : tensor<8x16xf32, #dlc.on<cpu, ba>>
}

// CHECK-LABEL: @turned_there_and_back
// CHECK-NEXT: return %arg0
func.func @turned_there_and_back(%x: tensor<1x4x4x16xf32, #dlc.on<cpu>>) -> tensor<1x4x4x16xf32, #dlc.on<cpu>> {
  %0 = dlc.transposed_view %x [0, 3, 1, 2] : (tensor<1x4x4x16xf32, #dlc.on<cpu>>) -> tensor<1x16x4x4xf32, #dlc.on<cpu, acdb>>
  %1 = dlc.transposed_view %0 [0, 2, 3, 1] : (tensor<1x16x4x4xf32, #dlc.on<cpu, acdb>>) -> tensor<1x4x4x16xf32, #dlc.on<cpu>>
  return %1 : tensor<1x4x4x16xf32, #dlc.on<cpu>>
}
