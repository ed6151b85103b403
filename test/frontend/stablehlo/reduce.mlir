// Reductions with initial values, of bools and of bits; argmax and argmin with NaN and equal elements; sorts; top_k.
// REQUIRES: dlc
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/arrays.py %t x='f32([[1, 3, 2, 3], [4, nan, 0, 7]])' i='i32([[1, 6, 3], [12, 10, 9]])' b='bool([[1, 0, 1], [1, 1, 1]])'
// RUN: dlc run %s --input x=%t/x.npy --input i=%t/i.npy --input b=%t/b.npy --output-dir %t/out > %t/log
// RUN: %python %S/Inputs/show.py %t/out | FileCheck %s
// CHECK: all bool [2]: 0 1
// CHECK-NEXT: argmax int32 [2]: 1 1
// CHECK-NEXT: argmin int32 [2]: 0 2
// CHECK-NEXT: argsort int32 [2, 4]: 0 2 1 3 2 0 3 1
// CHECK-NEXT: descending int32 [2, 3]: 12 10 9 1 6 3
// CHECK-NEXT: largest float32 [2]: 3 nan
// CHECK-NEXT: max float32 [2]: 10 nan
// CHECK-NEXT: prod int32 []: 19440
// CHECK-NEXT: sorted float32 [2, 4]: 1 2 3 3 0 4 7 nan
// CHECK-NEXT: sum float32 [4]: 15 nan 12 20
// CHECK-NEXT: top int32 [2, 2]: 6 3 12 10
// CHECK-NEXT: top_indices int32 [2, 2]: 1 2 0 1
// CHECK-NEXT: xor int32 [2]: 4 15
func.func @main(%x: tensor<2x4xf32> {dlc.name = "x"}, %i: tensor<2x3xi32> {dlc.name = "i"}, %b: tensor<2x3xi1> {dlc.name = "b"})
    -> (tensor<4xf32> {dlc.name = "sum"}, tensor<2xf32> {dlc.name = "max"}, tensor<i32> {dlc.name = "prod"}, tensor<2xi1> {dlc.name = "all"},
        tensor<2xi32> {dlc.name = "xor"}, tensor<2xf32> {dlc.name = "largest"}, tensor<2xi32> {dlc.name = "argmax"},
        tensor<2x4xf32> {dlc.name = "sorted"}, tensor<2x4xi32> {dlc.name = "argsort"}, tensor<2x3xi32> {dlc.name = "descending"},
        tensor<2x2xi32> {dlc.name = "top"}, tensor<2x2xi32> {dlc.name = "top_indices"}, tensor<2xi32> {dlc.name = "argmin"}) {
  %ten = stablehlo.constant dense<10.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %ten) applies stablehlo.add across dimensions = [0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.reduce(%x init: %ten) applies stablehlo.maximum across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %2 = stablehlo.reduce(%i init: %one) applies stablehlo.multiply across dimensions = [0, 1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<i32>
  %true = stablehlo.constant dense<true> : tensor<i1>
  %3 = stablehlo.reduce(%b init: %true) applies stablehlo.and across dimensions = [1] : (tensor<2x3xi1>, tensor<i1>) -> tensor<2xi1>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %4 = stablehlo.reduce(%i init: %zero) applies stablehlo.xor across dimensions = [1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>
  %indices = stablehlo.iota dim = 1 : tensor<2x4xi32>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %5:2 = stablehlo.reduce(%x init: %lowest), (%indices init: %zero) across dimensions = [1] : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
   reducer(%a: tensor<f32>, %c: tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>) {
    %larger = stablehlo.compare GT, %a, %c, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %nan = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %take = stablehlo.or %larger, %nan : tensor<i1>
    %equal = stablehlo.compare EQ, %a, %c, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %before = stablehlo.compare LT, %p, %q, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %both = stablehlo.and %equal, %before : tensor<i1>
    %index = stablehlo.or %take, %both : tensor<i1>
    %value = stablehlo.select %take, %a, %c : tensor<i1>, tensor<f32>
    %at = stablehlo.select %index, %p, %q : tensor<i1>, tensor<i32>
    stablehlo.return %value, %at : tensor<f32>, tensor<i32>
  }
  %6:2 = "stablehlo.sort"(%x, %indices) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %c: tensor<f32>, %p: tensor<i32>, %q: tensor<i32>):
    %less = stablehlo.compare LT, %a, %c, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %zeros = stablehlo.constant dense<0.0> : tensor<f32>
    %aZero = stablehlo.compare EQ, %a, %zeros : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %cZero = stablehlo.compare EQ, %c, %zeros : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %areZero = stablehlo.and %aZero, %cZero : tensor<i1>
    %differ = stablehlo.not %areZero : tensor<i1>
    %result = stablehlo.and %less, %differ : tensor<i1>
    stablehlo.return %result : tensor<i1>
  }) : (tensor<2x4xf32>, tensor<2x4xi32>) -> (tensor<2x4xf32>, tensor<2x4xi32>)
  %7 = "stablehlo.sort"(%i) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i32>, %c: tensor<i32>):
    %more = stablehlo.compare GT, %a, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %top, %topIndices = chlo.top_k(%i, k = 2) : tensor<2x3xi32> -> (tensor<2x2xi32>, tensor<2x2xi32>)
  %highest = stablehlo.constant dense<2147483647> : tensor<i32>
  %numbers = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %8:2 = stablehlo.reduce(%i init: %highest), (%numbers init: %zero) across dimensions = [1] : (tensor<2x3xi32>, tensor<2x3xi32>, tensor<i32>, tensor<i32>) -> (tensor<2xi32>, tensor<2xi32>)
   reducer(%a: tensor<i32>, %c: tensor<i32>) (%p: tensor<i32>, %q: tensor<i32>) {
    %less = stablehlo.compare LT, %a, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %equal = stablehlo.compare EQ, %a, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %before = stablehlo.compare LT, %p, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %both = stablehlo.and %equal, %before : tensor<i1>
    %index = stablehlo.or %less, %both : tensor<i1>
    %value = stablehlo.select %less, %a, %c : tensor<i1>, tensor<i32>
    %at = stablehlo.select %index, %p, %q : tensor<i1>, tensor<i32>
    stablehlo.return %value, %at : tensor<i32>, tensor<i32>
  }
  return %0, %1, %2, %3, %4, %5#0, %5#1, %6#0, %6#1, %7, %top, %topIndices, %8#1 : tensor<4xf32>, tensor<2xf32>, tensor<i32>, tensor<2xi1>, tensor<2xi32>,
      tensor<2xf32>, tensor<2xi32>, tensor<2x4xf32>, tensor<2x4xi32>, tensor<2x3xi32>, tensor<2x2xi32>, tensor<2x2xi32>, tensor<2xi32>
}
