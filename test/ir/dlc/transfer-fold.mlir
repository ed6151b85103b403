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
