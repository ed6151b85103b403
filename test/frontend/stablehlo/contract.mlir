// Contractions of all dimensions, with batches, and with wider results.
// REQUIRES: dlc
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/arrays.py %t x='f32([[1, 2, 3], [4, 5, 6]])' y='f32([[1, 0], [0, 1], [2, 3]])' z='f32(arange(12).reshape(2, 3, 2))' i='i32([[100, 2], [3, 4]])'
// RUN: dlc run %s --input x=%t/x.npy --input y=%t/y.npy --input z=%t/z.npy --input i=%t/i.npy --output-dir %t/out > %t/log
// RUN: %python %S/Inputs/show.py %t/out | FileCheck %s
// CHECK: all float32 []: 30
// CHECK-NEXT: batched float32 [2, 2, 2]: 20 26 26 35 200 224 224 251
// CHECK-NEXT: bytes int32 [2, 2]: 10006 208 312 22
// CHECK-NEXT: middle float32 [2, 2, 2]: 16 34 22 49 52 124 58 139
// CHECK-NEXT: outer float32 [3, 3]: 1 4 14 2 5 19 3 6 24
// CHECK-NEXT: plain float32 [2, 2]: 7 11 16 23
// CHECK-NEXT: rest float32 [2, 3, 2, 2]: 2 3 4 5 4 6 8 10 6 9 12 15 32 36 40 44 40 45 50 55 48 54 60 66
// CHECK-NEXT: rows float32 [2, 3, 3]: 4 5 6 14 19 24 24 33 42 34 47 60 44 61 78 54 75 96
// CHECK-NEXT: vector float32 [2]: 14 32
func.func @main(%x: tensor<2x3xf32> {dlc.name = "x"}, %y: tensor<3x2xf32> {dlc.name = "y"}, %z: tensor<2x3x2xf32> {dlc.name = "z"},
                %i: tensor<2x2xi32> {dlc.name = "i"})
    -> (tensor<2x2xf32> {dlc.name = "plain"}, tensor<3x3xf32> {dlc.name = "outer"}, tensor<f32> {dlc.name = "all"},
        tensor<2x2x2xf32> {dlc.name = "batched"}, tensor<2x2x2xf32> {dlc.name = "middle"}, tensor<2x2xi32> {dlc.name = "bytes"},
        tensor<2x3x2x2xf32> {dlc.name = "rest"}, tensor<2xf32> {dlc.name = "vector"}, tensor<2x3x3xf32> {dlc.name = "rows"}) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], precision = [DEFAULT, HIGHEST] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [1] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<3x3xf32>
  %2 = stablehlo.dot_general %x, %y, contracting_dims = [0, 1] x [1, 0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<f32>
  %3 = stablehlo.dot_general %z, %z, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x3x2xf32>, tensor<2x3x2xf32>) -> tensor<2x2x2xf32>
  %4 = stablehlo.dot_general %z, %x, contracting_dims = [1] x [1] : (tensor<2x3x2xf32>, tensor<2x3xf32>) -> tensor<2x2x2xf32>
  %byte = stablehlo.convert %i : (tensor<2x2xi32>) -> tensor<2x2xi8>
  %5 = stablehlo.dot_general %byte, %byte, contracting_dims = [1] x [0] : (tensor<2x2xi8>, tensor<2x2xi8>) -> tensor<2x2xi32>
  %6 = stablehlo.dot_general %x, %z, batching_dims = [0] x [0], contracting_dims = [] x [] : (tensor<2x3xf32>, tensor<2x3x2xf32>) -> tensor<2x3x3x2xf32>
  %part = stablehlo.slice %6 [0:2, 0:3, 1:3, 0:2] : (tensor<2x3x3x2xf32>) -> tensor<2x3x2x2xf32>
  %first = stablehlo.slice %x [0:1, 0:3] : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %vector = stablehlo.reshape %first : (tensor<1x3xf32>) -> tensor<3xf32>
  %7 = stablehlo.dot %x, %vector, precision = [DEFAULT, DEFAULT] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  %8 = stablehlo.dot_general %z, %x, contracting_dims = [2] x [0] : (tensor<2x3x2xf32>, tensor<2x3xf32>) -> tensor<2x3x3xf32>
  return %0, %1, %2, %3, %4, %5, %part, %7, %8 : tensor<2x2xf32>, tensor<3x3xf32>, tensor<f32>, tensor<2x2x2xf32>, tensor<2x2x2xf32>, tensor<2x2xi32>,
      tensor<2x3x2x2xf32>, tensor<2xf32>, tensor<2x3x3xf32>
}
