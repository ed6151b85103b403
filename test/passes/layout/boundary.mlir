// RUN: dlc-opt %s --dlc-place --dlc-layout='threads=1 costs=assumed' --dlc-verify-layout --split-input-file | FileCheck %s

// Results that may have any layout keep the one in which they are computed; other results are plain.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: -> (tensor<4x32x16x16xf32, #dlc.on<cpu, [[TAG:[aBcdb16]+]]>> {dlc.layout = "any", dlc.name = "kept"}, tensor<4x32x16x16xf32, #dlc.on<cpu>>)
// CHECK: [[Y:%.+]] = dlc.conv {{.*}} -> tensor<4x32x16x16xf32, #dlc.on<cpu, [[TAG]]>>
// CHECK: [[Z:%.+]] = dlc.relu [[Y]]
// CHECK: [[PLAIN:%.+]] = dlc.reorder [[Z]] {{.*}} -> tensor<4x32x16x16xf32, #dlc.on<cpu>>
// CHECK-NEXT: return [[Y]], [[PLAIN]]
func.func @forward(%x: tensor<4x16x16x16xf32>, %w: tensor<32x16x3x3xf32>) -> (tensor<4x32x16x16xf32> {dlc.name = "kept", dlc.layout = "any"}, tensor<4x32x16x16xf32>) {
  %y = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<4x16x16x16xf32>, tensor<32x16x3x3xf32>) -> tensor<4x32x16x16xf32>
  %z = dlc.relu %y : (tensor<4x32x16x16xf32>) -> tensor<4x32x16x16xf32>
  return %y, %z : tensor<4x32x16x16xf32>, tensor<4x32x16x16xf32>
}

// -----

// Layouts with padding are not allowed at the boundary.
// CHECK-LABEL: func.func @padded
// CHECK-SAME: -> (tensor<4x20x16x16xf32, #dlc.on<cpu{{(, acdb)?}}>> {
func.func @padded(%x: tensor<4x16x16x16xf32>, %w: tensor<20x16x3x3xf32>) -> (tensor<4x20x16x16xf32> {dlc.layout = "any"}) {
  %y = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<4x16x16x16xf32>, tensor<20x16x3x3xf32>) -> tensor<4x20x16x16xf32>
  return %y : tensor<4x20x16x16xf32>
}

// -----

// An argument has its declared layout, and elementwise operations use it, even without a matmul.
// CHECK-LABEL: func.func @backward
// CHECK-SAME: (%[[X:[^:]+]]: tensor<4x32x16x16xf32, #dlc.on<cpu, aBcd16b>> {{{.*}}}, %[[DY:[^:]+]]: tensor<4x32x16x16xf32, #dlc.on<cpu, aBcd16b>> {{{.*}}})
// CHECK-NEXT: dlc.mul %[[X]], %[[DY]] {{.*}} -> tensor<4x32x16x16xf32, #dlc.on<cpu, aBcd16b>>
// CHECK-NEXT: dlc.reorder
func.func @backward(%x: tensor<4x32x16x16xf32> {dlc.layout = "aBcd16b"}, %dy: tensor<4x32x16x16xf32> {dlc.layout = "aBcd16b"}) -> tensor<4x32x16x16xf32> {
  %y = dlc.mul %x, %dy : (tensor<4x32x16x16xf32>, tensor<4x32x16x16xf32>) -> tensor<4x32x16x16xf32>
  return %y : tensor<4x32x16x16xf32>
}
