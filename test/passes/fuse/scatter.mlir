// RUN: dlc-opt %s --dlc-fuse --split-input-file | FileCheck %s

// A table's gradient with the update as only reader: the rows are scattered into the table, without a tensor of zeros.
// CHECK-LABEL: @sgd
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<100x16xf32>
// CHECK-NOT: broadcast
// CHECK: %[[U:.*]] = dlc.fusion(%{{.*}} = %{{.*}}) : (tensor<5x16xf32>) -> tensor<5x16xf32>
// CHECK: %[[Y:.*]] = dlc.scatter_nd add %[[W]], %{{.*}}, %[[U]]
// CHECK-NEXT: return %[[Y]]
func.func @sgd(%w: tensor<100x16xf32> {dlc.name = "w", dlc.state}, %i: tensor<5x1xi64>, %dy: tensor<5x16xf32>) -> (tensor<100x16xf32> {dlc.name = "w", dlc.state}) {
  %lr = dlc.constant dense<0.1> : tensor<f32>
  %zero = dlc.constant dense<0.0> : tensor<f32>
  %zeros = dlc.broadcast %zero : (tensor<f32>) -> tensor<100x16xf32>
  %0 = dlc.scatter_nd add %zeros, %i, %dy : (tensor<100x16xf32>, tensor<5x1xi64>, tensor<5x16xf32>) -> tensor<100x16xf32>
  %1 = dlc.mul %0, %lr : (tensor<100x16xf32>, tensor<f32>) -> tensor<100x16xf32>
  %2 = dlc.sub %w, %1 : (tensor<100x16xf32>, tensor<100x16xf32>) -> tensor<100x16xf32>
  return %2 : tensor<100x16xf32>
}

// -----

// With gradient clipping, the norm reads the table; the update still scatters rows.
// CHECK-LABEL: @clipped
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<100x16xf32>
// CHECK: %[[G:.*]] = dlc.scatter_nd add
// CHECK: dlc.fusion(%{{.*}} = %[[G]])
// CHECK: dlc.scatter_nd add %[[W]],
func.func @clipped(%w: tensor<100x16xf32> {dlc.name = "w", dlc.state}, %i: tensor<5x1xi64>, %dy: tensor<5x16xf32>) -> (tensor<f32>, tensor<100x16xf32> {dlc.name = "w", dlc.state}) {
  %zeros = dlc.constant dense<0.0> : tensor<100x16xf32>
  %0 = dlc.scatter_nd add %zeros, %i, %dy : (tensor<100x16xf32>, tensor<5x1xi64>, tensor<5x16xf32>) -> tensor<100x16xf32>
  %1 = dlc.mul %0, %0 : (tensor<100x16xf32>, tensor<100x16xf32>) -> tensor<100x16xf32>
  %2 = dlc.reduce sum %1 axes [0, 1] : (tensor<100x16xf32>) -> tensor<f32>
  %3 = dlc.div %0, %2 : (tensor<100x16xf32>, tensor<f32>) -> tensor<100x16xf32>
  %4 = dlc.sub %w, %3 : (tensor<100x16xf32>, tensor<100x16xf32>) -> tensor<100x16xf32>
  return %2, %4 : tensor<f32>, tensor<100x16xf32>
}

// -----

// A table that is also an operand of a matmul: its rows are scattered into the matmul's result.
// CHECK-LABEL: @tied
// CHECK: %[[P:.*]] = dlc.fusion
// CHECK: dlc.matmul
// CHECK: dlc.scatter_nd add %[[P]],
func.func @tied(%x: tensor<8x100xf32>, %g: tensor<8x16xf32>, %i: tensor<5x1xi64>, %dy: tensor<5x16xf32>) -> tensor<100x16xf32> {
  %zeros = dlc.constant dense<0.0> : tensor<100x16xf32>
  %0 = dlc.scatter_nd add %zeros, %i, %dy : (tensor<100x16xf32>, tensor<5x1xi64>, tensor<5x16xf32>) -> tensor<100x16xf32>
  %1 = dlc.matmul %x, %g transpose_a : (tensor<8x100xf32>, tensor<8x16xf32>) -> tensor<100x16xf32>
  %2 = dlc.add %0, %1 : (tensor<100x16xf32>, tensor<100x16xf32>) -> tensor<100x16xf32>
  return %2 : tensor<100x16xf32>
}

// -----

// A scatter that does not start from zeros, or whose sum has other readers, is not changed.
// CHECK-LABEL: @stays
// CHECK-COUNT-2: dlc.scatter_nd
// CHECK-NOT: dlc.scatter_nd
func.func @stays(%w: tensor<100x16xf32>, %i: tensor<5x1xi64>, %dy: tensor<5x16xf32>) -> (tensor<100x16xf32>, tensor<100x16xf32>) {
  %ones = dlc.constant dense<1.0> : tensor<100x16xf32>
  %zeros = dlc.constant dense<0.0> : tensor<100x16xf32>
  %0 = dlc.scatter_nd add %ones, %i, %dy : (tensor<100x16xf32>, tensor<5x1xi64>, tensor<5x16xf32>) -> tensor<100x16xf32>
  %1 = dlc.sub %w, %0 : (tensor<100x16xf32>, tensor<100x16xf32>) -> tensor<100x16xf32>
  %2 = dlc.scatter_nd add %zeros, %i, %dy : (tensor<100x16xf32>, tensor<5x1xi64>, tensor<5x16xf32>) -> tensor<100x16xf32>
  %3 = dlc.sub %w, %2 : (tensor<100x16xf32>, tensor<100x16xf32>) -> tensor<100x16xf32>
  return %1, %3 : tensor<100x16xf32>, tensor<100x16xf32>
}

// -----

// If the gradient covers most rows and is stored anyway, it is added as a whole.
// CHECK-LABEL: @most
// CHECK-COUNT-1: dlc.scatter_nd
// CHECK-NOT: dlc.scatter_nd
func.func @most(%w: tensor<100x16xf32> {dlc.name = "w", dlc.state}, %i: tensor<50x1xi64>, %dy: tensor<50x16xf32>) -> (tensor<100x16xf32>, tensor<100x16xf32> {dlc.name = "w", dlc.state}) {
  %zeros = dlc.constant dense<0.0> : tensor<100x16xf32>
  %0 = dlc.scatter_nd add %zeros, %i, %dy : (tensor<100x16xf32>, tensor<50x1xi64>, tensor<50x16xf32>) -> tensor<100x16xf32>
  %1 = dlc.sub %w, %0 : (tensor<100x16xf32>, tensor<100x16xf32>) -> tensor<100x16xf32>
  return %0, %1 : tensor<100x16xf32>, tensor<100x16xf32>
}
