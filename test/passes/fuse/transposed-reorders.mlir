// RUN: dlc-opt %s --dlc-fuse | FileCheck %s

// Reorders to and from layouts without blocks are transpositions of what lies in memory, for which
// generated code competes.

// CHECK-LABEL: @to_channels_last
// CHECK: %[[M:.*]] = dlc.fusion(%[[X:.*]] = %arg0)
// CHECK: dlc.transpose %[[X]] [0, 2, 3, 1] {{.*}} -> tensor<2x5x7x3xf32, #dlc.on<cpu>>
// CHECK: %[[V:.*]] = dlc.transposed_view %[[M]] [0, 3, 1, 2]
// CHECK: return %[[V]]
func.func @to_channels_last(%x: tensor<2x3x5x7xf32, #dlc.on<cpu>>) -> tensor<2x3x5x7xf32, #dlc.on<cpu, acdb>> {
  %y = dlc.reorder %x : (tensor<2x3x5x7xf32, #dlc.on<cpu>>) -> tensor<2x3x5x7xf32, #dlc.on<cpu, acdb>>
  return %y : tensor<2x3x5x7xf32, #dlc.on<cpu, acdb>>
}

// CHECK-LABEL: @from_channels_last
// CHECK: %[[V:.*]] = dlc.transposed_view %arg0 [0, 2, 3, 1]
// CHECK: %[[M:.*]] = dlc.fusion(%[[X:.*]] = %[[V]])
// CHECK: dlc.transpose %[[X]] [0, 3, 1, 2] {{.*}} -> tensor<2x3x5x7xf32, #dlc.on<cpu>>
// CHECK: return %[[M]]
func.func @from_channels_last(%x: tensor<2x3x5x7xf32, #dlc.on<cpu, acdb>>) -> tensor<2x3x5x7xf32, #dlc.on<cpu>> {
  %y = dlc.reorder %x : (tensor<2x3x5x7xf32, #dlc.on<cpu, acdb>>) -> tensor<2x3x5x7xf32, #dlc.on<cpu>>
  return %y : tensor<2x3x5x7xf32, #dlc.on<cpu>>
}

// Blocks are a library's.

// CHECK-LABEL: @to_blocks
// CHECK: dlc.reorder %arg0
func.func @to_blocks(%x: tensor<2x16x5x7xf32, #dlc.on<cpu>>) -> tensor<2x16x5x7xf32, #dlc.on<cpu, aBcd16b>> {
  %y = dlc.reorder %x : (tensor<2x16x5x7xf32, #dlc.on<cpu>>) -> tensor<2x16x5x7xf32, #dlc.on<cpu, aBcd16b>>
  return %y : tensor<2x16x5x7xf32, #dlc.on<cpu, aBcd16b>>
}
