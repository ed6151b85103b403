// Operations that move elements: broadcasts, transposes, slices, padding with negative and interior parts, slices at computed positions.
// REQUIRES: dlc
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/arrays.py %t x='f32([[1, 2, 3], [4, 5, 6]])' i='i32(5)' j='i32(-1)'
// RUN: dlc run %s --input x=%t/x.npy --input i=%t/i.npy --input j=%t/j.npy --output-dir %t/out > %t/log
// RUN: %python %S/Inputs/show.py %t/out | FileCheck %s
// CHECK: broadcast float32 [3, 2, 2]: 1 4 1 4 1 4 1 4 1 4 1 4
// CHECK-NEXT: concatenate float32 [4, 3]: 1 2 3 4 5 6 6 5 4 3 2 1
// CHECK-NEXT: dynamic_slice float32 [1, 2]: 4 5
// CHECK-NEXT: iota float32 [2, 3]: 0 1 2 0 1 2
// CHECK-NEXT: known float32 [2, 3]: 1 7 3 4 8 6
// CHECK-NEXT: pad float32 [4, 4]: 9 9 9 9 2 3 9 9 9 9 9 9 5 6 9 9
// CHECK-NEXT: reverse float32 [2, 3]: 6 5 4 3 2 1
// CHECK-NEXT: size int32 []: 3
// CHECK-NEXT: slice float32 [2, 2]: 1 3 4 6
// CHECK-NEXT: update float32 [2, 3]: 1 2 3 7 8 6
func.func @main(%x: tensor<2x3xf32> {dlc.name = "x"}, %i: tensor<i32> {dlc.name = "i"}, %j: tensor<i32> {dlc.name = "j"})
    -> (tensor<3x2x2xf32> {dlc.name = "broadcast"}, tensor<2x3xf32> {dlc.name = "iota"}, tensor<2x2xf32> {dlc.name = "slice"},
        tensor<4x4xf32> {dlc.name = "pad"}, tensor<2x3xf32> {dlc.name = "reverse"}, tensor<4x3xf32> {dlc.name = "concatenate"},
        tensor<1x2xf32> {dlc.name = "dynamic_slice"}, tensor<2x3xf32> {dlc.name = "update"}, tensor<2x3xf32> {dlc.name = "known"},
        tensor<i32> {dlc.name = "size"}) {
  %first = stablehlo.slice %x [0:2, 0:1] : (tensor<2x3xf32>) -> tensor<2x1xf32>
  // Operand dimensions 0 and 1 become dimensions 2 and 0 of the result.
  %0 = stablehlo.broadcast_in_dim %first, dims = [2, 0] : (tensor<2x1xf32>) -> tensor<3x2x2xf32>
  %1 = stablehlo.iota dim = 1 : tensor<2x3xf32>
  %2 = stablehlo.slice %x [0:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  %value = stablehlo.constant dense<9.0> : tensor<f32>
  %3 = stablehlo.pad %x, %value, low = [1, -1], high = [0, 1], interior = [1, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  %wide = stablehlo.pad %3, %value, low = [0, 0], high = [0, 1], interior = [0, 0] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x4xf32>
  %4 = stablehlo.reverse %x, dims = [1, 0] : tensor<2x3xf32>
  %5 = stablehlo.concatenate %x, %4, dim = 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  // Starts are clamped: row 5 is row 1, and column -1 is column 0.
  %6 = stablehlo.dynamic_slice %x, %i, %j, sizes = [1, 2] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
  %update = stablehlo.constant dense<[[7.0, 8.0]]> : tensor<1x2xf32>
  %7 = stablehlo.dynamic_update_slice %x, %update, %i, %j : (tensor<2x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %column = stablehlo.constant dense<[[7.0], [8.0]]> : tensor<2x1xf32>
  %8 = stablehlo.dynamic_update_slice %x, %column, %one, %one : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %9 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
  return %0, %1, %2, %wide, %4, %5, %6, %7, %8, %9 : tensor<3x2x2xf32>, tensor<2x3xf32>, tensor<2x2xf32>, tensor<4x4xf32>, tensor<2x3xf32>,
      tensor<4x3xf32>, tensor<1x2xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<i32>
}
