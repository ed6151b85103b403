// RUN: dlc-opt %s --dlc-simplify --split-input-file | FileCheck %s

// The update covers all elements: x is not read.

// CHECK-LABEL: @whole
// CHECK-SAME: %[[X:.*]]: tensor<1x3x4xf32>, %[[U:.*]]: tensor<1x3x4xf32>
// CHECK-NEXT: return %[[U]]
func.func @whole(%x: tensor<1x3x4xf32>, %u: tensor<1x3x4xf32>) -> tensor<1x3x4xf32> {
  %zero = dlc.constant dense<0> : tensor<1x1x1xi64>
  %rows = dlc.iota 0 : tensor<3x1xi64>
  %columns = dlc.constant dense<[0, 1, 2, 3]> : tensor<4xi64>
  %a = dlc.broadcast %zero : (tensor<1x1x1xi64>) -> tensor<1x3x4xi64>
  %b = dlc.broadcast %rows : (tensor<3x1xi64>) -> tensor<1x3x4xi64>
  %c = dlc.broadcast %columns : (tensor<4xi64>) -> tensor<1x3x4xi64>
  %ar = dlc.reshape %a : (tensor<1x3x4xi64>) -> tensor<1x3x4x1xi64>
  %br = dlc.reshape %b : (tensor<1x3x4xi64>) -> tensor<1x3x4x1xi64>
  %cr = dlc.reshape %c : (tensor<1x3x4xi64>) -> tensor<1x3x4x1xi64>
  %i = dlc.concat 3 (%ar, %br, %cr) : (tensor<1x3x4x1xi64>, tensor<1x3x4x1xi64>, tensor<1x3x4x1xi64>) -> tensor<1x3x4x3xi64>
  %y = dlc.scatter_nd none %x, %i, %u : (tensor<1x3x4xf32>, tensor<1x3x4x3xi64>, tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  return %y : tensor<1x3x4xf32>
}

// -----

// A row of the second half, with an index from the end; columns 1 and 2, as an added update.

// CHECK-LABEL: @part
// CHECK-SAME: %[[X:.*]]: tensor<4x5xf32>, %[[U:.*]]: tensor<2xf32>
// CHECK-DAG: %[[R:.*]] = dlc.reshape %[[U]] : (tensor<2xf32>) -> tensor<1x2xf32>
// CHECK-DAG: %[[B:.*]] = dlc.slice %[[X]] start [2, 1] size [1, 2] stride [1, 1]
// CHECK: %[[S:.*]] = dlc.add %[[B]], %[[R]]
// CHECK-DAG: %[[L:.*]] = dlc.slice %[[X]] start [2, 0] size [1, 1] stride [1, 1]
// CHECK-DAG: %[[E:.*]] = dlc.slice %[[X]] start [2, 3] size [1, 2] stride [1, 1]
// CHECK: %[[ROW:.*]] = dlc.concat 1(%[[L]], %[[S]], %[[E]])
// CHECK-DAG: %[[T:.*]] = dlc.slice %[[X]] start [0, 0] size [2, 5] stride [1, 1]
// CHECK-DAG: %[[D:.*]] = dlc.slice %[[X]] start [3, 0] size [1, 5] stride [1, 1]
// CHECK: dlc.concat 0(%[[T]], %[[ROW]], %[[D]])
func.func @part(%x: tensor<4x5xf32>, %u: tensor<2xf32>) -> tensor<4x5xf32> {
  %i = dlc.constant dense<[[-2, 1], [-2, 2]]> : tensor<2x2xi64>
  %y = dlc.scatter_nd add %x, %i, %u : (tensor<4x5xf32>, tensor<2x2xi64>, tensor<2xf32>) -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}

// -----

// Indices that are not in order, not adjacent, repeated, or out of range: these are not changed.

// CHECK-LABEL: @others
// CHECK-COUNT-4: dlc.scatter_nd
func.func @others(%x: tensor<4x4xf32>, %u: tensor<2x2xf32>, %v: tensor<2xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %turned = dlc.constant dense<[[[0, 0], [1, 0]], [[0, 1], [1, 1]]]> : tensor<2x2x2xi64>
  %far = dlc.constant dense<[[0, 0], [0, 2]]> : tensor<2x2xi64>
  %twice = dlc.constant dense<[[1, 1], [1, 1]]> : tensor<2x2xi64>
  %outside = dlc.constant dense<[[3, 3], [3, 4]]> : tensor<2x2xi64>
  %a = dlc.scatter_nd none %x, %turned, %u : (tensor<4x4xf32>, tensor<2x2x2xi64>, tensor<2x2xf32>) -> tensor<4x4xf32>
  %b = dlc.scatter_nd none %x, %far, %v : (tensor<4x4xf32>, tensor<2x2xi64>, tensor<2xf32>) -> tensor<4x4xf32>
  %c = dlc.scatter_nd add %x, %twice, %v : (tensor<4x4xf32>, tensor<2x2xi64>, tensor<2xf32>) -> tensor<4x4xf32>
  %d = dlc.scatter_nd none %x, %outside, %v : (tensor<4x4xf32>, tensor<2x2xi64>, tensor<2xf32>) -> tensor<4x4xf32>
  return %a, %b, %c, %d : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Slices along the dimensions that the index tuples do not cover, and elements along an axis.

// CHECK-LABEL: @rows
// CHECK-SAME: %[[X:.*]]: tensor<6x3xf32>, %[[U:.*]]: tensor<2x3xf32>
// CHECK: %[[N:.*]] = dlc.concat 0({{.*}}, %[[U]], {{.*}})
// CHECK: %[[E:.*]] = dlc.concat 0({{.*}}, %[[U]]) : (tensor<4x3xf32>, tensor<2x3xf32>)
// CHECK: return %[[N]], %[[E]]
func.func @rows(%x: tensor<6x3xf32>, %u: tensor<2x3xf32>) -> (tensor<6x3xf32>, tensor<6x3xf32>) {
  %i = dlc.constant dense<[[2], [3]]> : tensor<2x1xi64>
  %y = dlc.scatter_nd none %x, %i, %u : (tensor<6x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<6x3xf32>
  %j = dlc.constant dense<[[4, 4, 4], [5, 5, 5]]> : tensor<2x3xi64>
  %z = dlc.scatter_elements none 0 %x, %j, %u : (tensor<6x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<6x3xf32>
  return %y, %z : tensor<6x3xf32>, tensor<6x3xf32>
}

// -----

// CHECK-LABEL: @gathered
// CHECK: %[[S:.*]] = dlc.slice %arg0 start [1, 2, 0] size [2, 1, 3] stride [1, 1, 1]
// CHECK: dlc.reshape %[[S]] : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
func.func @gathered(%x: tensor<4x4x3xf32>) -> tensor<2x3xf32> {
  %i = dlc.constant dense<[[1, 2], [2, 2]]> : tensor<2x2xi64>
  %y = dlc.gather_nd %x, %i {batch_dims = 0 : i64} : (tensor<4x4x3xf32>, tensor<2x2xi64>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
