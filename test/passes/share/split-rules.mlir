// RUN: dlc-opt %s -dlc-split -split-input-file | FileCheck %s
// Split rules of operations, and the collectives between split and unsplit values.

// Partial sums are reduced over ranks once; an unsplit operand of a split operation is sliced.
// CHECK-LABEL: @terms
// CHECK: %[[A:.*]] = dlc.matmul %arg0, %arg1 : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
// CHECK: %[[S:.*]] = dlc.reshape %arg3 : (tensor<16xf32>) -> tensor<1x2x8xf32>
// CHECK: dlc.reshape %[[S]] : (tensor<1x2x8xf32>) -> tensor<2x1x8xf32>
// CHECK: dlc.own_rows %{{.*}} of 2 : (tensor<2x1x8xf32>) -> tensor<1x1x8xf32>
// CHECK: dlc.add
// CHECK: %[[B:.*]] = dlc.matmul %{{.*}}, %arg2
// CHECK: %[[C:.*]] = dlc.matmul %{{.*}}, %arg2
// CHECK: %[[D:.*]] = dlc.sub %[[B]], %[[C]]
// CHECK: dlc.all_reduce sum %[[D]] of 2
// CHECK-NOT: dlc.all_reduce
func.func @terms(%x: tensor<4x8xf32>, %w1: tensor<8x16xf32> {dlc.split = array<i64: 1, 2, 1>}, %w2: tensor<16x8xf32> {dlc.split = array<i64: 0, 2, 1>},
                 %b: tensor<16xf32>) -> tensor<4x8xf32> {
  %0 = dlc.matmul %x, %w1 : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = dlc.add %0, %b : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %2 = dlc.matmul %1, %w2 : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %3 = dlc.matmul %0, %w2 : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %y = dlc.sub %2, %3 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
// -----
// Heads: the split columns of a matmul are whole heads of the attention.
// CHECK-LABEL: @heads
// CHECK: dlc.reshape %{{.*}} : (tensor<2x4x4xf32>) -> tensor<2x4x2x2xf32>
// CHECK: dlc.transpose %{{.*}} [0, 2, 1, 3] : (tensor<2x4x2x2xf32>) -> tensor<2x2x4x2xf32>
// CHECK: dlc.softmax %{{.*}} {{.*}} : (tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32>
// CHECK: dlc.reshape %{{.*}} : (tensor<2x4x2x2xf32>) -> tensor<2x4x4xf32>
// CHECK: dlc.all_gather %{{.*}} of 2 : (tensor<1x8x4xf32>) -> tensor<2x8x4xf32>
func.func @heads(%x: tensor<2x4x8xf32>, %w: tensor<8x8xf32> {dlc.name = "w", dlc.split = array<i64: 1, 2, 1>}) -> tensor<2x4x8xf32> {
  %0 = dlc.matmul %x, %w : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
  %1 = dlc.reshape %0 : (tensor<2x4x8xf32>) -> tensor<2x4x4x2xf32>
  %q = dlc.transpose %1 [0, 2, 1, 3] : (tensor<2x4x4x2xf32>) -> tensor<2x4x4x2xf32>
  %s = dlc.matmul %q, %q transpose_b : (tensor<2x4x4x2xf32>, tensor<2x4x4x2xf32>) -> tensor<2x4x4x4xf32>
  %p = "dlc.softmax"(%s) {axis = 3 : i64} : (tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  %a = dlc.matmul %p, %q : (tensor<2x4x4x4xf32>, tensor<2x4x4x2xf32>) -> tensor<2x4x4x2xf32>
  %t = dlc.transpose %a [0, 2, 1, 3] : (tensor<2x4x4x2xf32>) -> tensor<2x4x4x2xf32>
  %y = dlc.reshape %t : (tensor<2x4x4x2xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}
// -----
// q, k and v in one parameter: three blocks, which are sliced and concatenated as a whole.
// CHECK-LABEL: @blocks
// CHECK-SAME: %arg1: tensor<8x12xf32>
// CHECK: %[[K:.*]] = dlc.slice %{{.*}} start [0, 4] size [4, 4] stride [1, 1] : (tensor<4x12xf32>) -> tensor<4x4xf32>
// CHECK: dlc.concat 1(%[[K]], %{{.*}}) : (tensor<4x4xf32>, tensor<4x12xf32>) -> tensor<4x16xf32>
// CHECK: return %{{.*}} : tensor<4x16xf32>
func.func @blocks(%x: tensor<4x8xf32>, %w: tensor<8x24xf32> {dlc.split = array<i64: 1, 2, 3>}) -> (tensor<4x32xf32> {dlc.split = array<i64: 1, 2, 4>}) {
  %0 = dlc.matmul %x, %w : (tensor<4x8xf32>, tensor<8x24xf32>) -> tensor<4x24xf32>
  %k = dlc.slice %0 start [0, 8] size [4, 8] stride [1, 1] : (tensor<4x24xf32>) -> tensor<4x8xf32>
  %y = dlc.concat 1(%k, %0) : (tensor<4x8xf32>, tensor<4x24xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}
// -----
// Each rank looks up the rows of its part of the table.
// CHECK-LABEL: @rows
// CHECK: %[[FIRST:.*]] = dlc.own_rows %{{.*}} of 2 : (tensor<2xi64>) -> tensor<1xi64>
// CHECK: dlc.gather 0 %arg0, %{{.*}} : (tensor<6x8xf32>, tensor<3xi64>) -> tensor<3x8xf32>
// CHECK: dlc.select
// CHECK: dlc.all_reduce sum
func.func @rows(%table: tensor<12x8xf32> {dlc.split = array<i64: 0, 2, 1>}, %i: tensor<3xi64>) -> tensor<3x8xf32> {
  %y = dlc.gather 0 %table, %i : (tensor<12x8xf32>, tensor<3xi64>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}
// -----
// CHECK-LABEL: @columns
// CHECK: dlc.gather 0 %arg0, %arg1 : (tensor<12x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
// CHECK: dlc.all_gather %{{.*}} of 2 : (tensor<1x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK: dlc.transpose
// CHECK: dlc.exp %{{.*}} : (tensor<3x8xf32>) -> tensor<3x8xf32>
func.func @columns(%table: tensor<12x8xf32> {dlc.split = array<i64: 1, 2, 1>}, %i: tensor<3xi64>) -> tensor<3x8xf32> {
  %0 = dlc.gather 0 %table, %i : (tensor<12x8xf32>, tensor<3xi64>) -> tensor<3x8xf32>
  %y = dlc.exp %0 : (tensor<3x8xf32>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}
// -----
// States are split like their new values; the gradients of a table are summed on the rank that has the rows.
// CHECK-LABEL: @states
// CHECK-SAME: %arg0: tensor<6x8xf32> {dlc.name = "table", dlc.part = array<i64: 0, 2, 1>, dlc.state}
// CHECK-SAME: %arg1: tensor<6x8xf32> {dlc.name = "table.momentum", dlc.part = array<i64: 0, 2, 1>, dlc.state}
// CHECK-SAME: -> (tensor<6x8xf32> {dlc.name = "table", dlc.part = array<i64: 0, 2, 1>, dlc.state}
// CHECK: dlc.select %{{.*}} : (tensor<3x1xi1>, tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
// CHECK: dlc.scatter_nd add %{{.*}} : (tensor<6x8xf32>, tensor<3x1xi64>, tensor<3x8xf32>) -> tensor<6x8xf32>
// CHECK: %[[NORM:.*]] = dlc.reduce sum %{{.*}} axes [0, 1]
// CHECK: dlc.all_reduce sum %[[NORM]] of 2 : (tensor<f32>) -> tensor<f32>
func.func @states(%w: tensor<12x8xf32> {dlc.name = "table", dlc.state, dlc.split = array<i64: 0, 2, 1>},
                  %m: tensor<12x8xf32> {dlc.name = "table.momentum", dlc.state}, %i: tensor<3x1xi64>, %dy: tensor<3x8xf32>)
    -> (tensor<12x8xf32> {dlc.name = "table", dlc.state}, tensor<12x8xf32> {dlc.name = "table.momentum", dlc.state}, tensor<f32>) {
  %zero = dlc.constant dense<0.0> : tensor<f32>
  %half = dlc.constant dense<0.5> : tensor<f32>
  %zeros = dlc.broadcast %zero : (tensor<f32>) -> tensor<12x8xf32>
  %g = dlc.scatter_nd add %zeros, %i, %dy : (tensor<12x8xf32>, tensor<3x1xi64>, tensor<3x8xf32>) -> tensor<12x8xf32>
  %0 = dlc.mul %m, %half : (tensor<12x8xf32>, tensor<f32>) -> tensor<12x8xf32>
  %1 = dlc.add %0, %g : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
  %2 = dlc.sub %w, %1 : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
  %3 = dlc.mul %g, %g : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
  %n = dlc.reduce sum %3 axes [0, 1] : (tensor<12x8xf32>) -> tensor<f32>
  return %2, %1, %n : tensor<12x8xf32>, tensor<12x8xf32>, tensor<f32>
}
// -----
// A mean over parts is a term of the mean; the maximum is the maximum of the ranks' maxima.
// CHECK-LABEL: @folds
// CHECK: dlc.reduce mean %arg0 axes [1] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK: dlc.mul %{{.*}} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK: dlc.reduce max %arg0 axes [1]
// CHECK: dlc.all_reduce max %{{.*}} of 2
// CHECK: dlc.all_reduce sum
func.func @folds(%w: tensor<4x16xf32> {dlc.split = array<i64: 1, 2, 1>}) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = dlc.reduce mean %w axes [1] : (tensor<4x16xf32>) -> tensor<4xf32>
  %1 = dlc.reduce max %w axes [1] : (tensor<4x16xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
