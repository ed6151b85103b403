// Windows: pooling of channels-last images, cumulative sums, windows of integers, and the gradient of max pooling.
// REQUIRES: dlc
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/arrays.py %t x='f32([[[[1], [2], [3]], [[6], [5], [4]], [[7], [8], [9]]]])' i='i32([[1, 2, 3], [4, 5, 6]])'
// RUN: dlc run %s --input x=%t/x.npy --input i=%t/i.npy --output-dir %t/out > %t/log
// RUN: %python %S/Inputs/show.py %t/out | FileCheck %s
// CHECK: cumsum int32 [2, 3]: 1 3 6 4 9 15
// CHECK-NEXT: dilated int32 [2, 3]: 1 2 3 4 5 6
// CHECK-NEXT: gradient float32 [1, 3, 3, 1]: 0 0 0 1 2 0 0 3 4
// CHECK-NEXT: max float32 [1, 2, 2, 1]: 6 4 8 9
// CHECK-NEXT: min float32 [1, 3, 3, 1]: 1 1 2 5 4 4 7 7 8
// CHECK-NEXT: prod int32 [2, 2]: 2 6 20 30
// CHECK-NEXT: reversed int32 [2, 3]: 6 5 3 15 11 6
// CHECK-NEXT: sum float32 [1, 2, 2, 1]: 14.5 7.5 15.5 9.5
func.func @main(%x: tensor<1x3x3x1xf32> {dlc.name = "x"}, %i: tensor<2x3xi32> {dlc.name = "i"})
    -> (tensor<1x2x2x1xf32> {dlc.name = "max"}, tensor<1x2x2x1xf32> {dlc.name = "sum"}, tensor<1x3x3x1xf32> {dlc.name = "min"},
        tensor<2x3xi32> {dlc.name = "cumsum"}, tensor<2x3xi32> {dlc.name = "reversed"}, tensor<2x2xi32> {dlc.name = "prod"},
        tensor<2x3xi32> {dlc.name = "dilated"}, tensor<1x3x3x1xf32> {dlc.name = "gradient"}) {
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %lowest) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>,
      padding = dense<[[0, 0], [0, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) : (tensor<1x3x3x1xf32>, tensor<f32>) -> tensor<1x2x2x1xf32>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %1 = "stablehlo.reduce_window"(%x, %half) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>,
      padding = dense<[[0, 0], [0, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) : (tensor<1x3x3x1xf32>, tensor<f32>) -> tensor<1x2x2x1xf32>
  %highest = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %2 = "stablehlo.reduce_window"(%x, %highest) <{window_dimensions = array<i64: 1, 1, 3, 1>,
      padding = dense<[[0, 0], [0, 0], [1, 1], [0, 0]]> : tensor<4x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = stablehlo.minimum %a, %b : tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) : (tensor<1x3x3x1xf32>, tensor<f32>) -> tensor<1x3x3x1xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %3 = "stablehlo.reduce_window"(%i, %zero) <{window_dimensions = array<i64: 1, 3>, padding = dense<[[0, 0], [2, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %r = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %r : tensor<i32>
  }) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  %4 = "stablehlo.reduce_window"(%i, %zero) <{window_dimensions = array<i64: 1, 3>, padding = dense<[[0, 0], [0, 2]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %r = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %r : tensor<i32>
  }) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %5 = "stablehlo.reduce_window"(%i, %one) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %r = stablehlo.multiply %a, %b : tensor<i32>
    stablehlo.return %r : tensor<i32>
  }) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x2xi32>
  // Between rows 1 and 2 is a row of zeros.
  %6 = "stablehlo.reduce_window"(%i, %zero) <{window_dimensions = array<i64: 2, 1>, base_dilations = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %r = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %r : tensor<i32>
  }) : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  %source = stablehlo.constant dense<[[[[1.0], [2.0]], [[3.0], [4.0]]]]> : tensor<1x2x2x1xf32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %7 = "stablehlo.select_and_scatter"(%x, %source, %none) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 1, 1, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %r : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) : (tensor<1x3x3x1xf32>, tensor<1x2x2x1xf32>, tensor<f32>) -> tensor<1x3x3x1xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>, tensor<1x3x3x1xf32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x2xi32>,
      tensor<2x3xi32>, tensor<1x3x3x1xf32>
}
