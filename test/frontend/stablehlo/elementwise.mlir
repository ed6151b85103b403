// Elementwise operations: edge values of floats, and division of integers by 0, as XLA defines it.
// REQUIRES: dlc
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/arrays.py %t x='f32([-2.5, -0.5, 0.5, 1.5, 2.5, nan])' y='f32([2, -3, 0, nan, -2, 1])' i='i32([7, -7, -2147483648, 5, 3, 0])' j='i32([2, 2, -1, 0, -5, 0])' b='bool([1, 0, 1, 0, 1, 1])' c='bool([1, 1, 0, 0, 1, 0])'
// RUN: dlc run %s --input x=%t/x.npy --input y=%t/y.npy --input i=%t/i.npy --input j=%t/j.npy --input b=%t/b.npy --input c=%t/c.npy --output-dir %t/out > %t/log
// RUN: %python %S/Inputs/show.py %t/out | FileCheck %s
// CHECK: afz float32 [6]: -3 -1 1 2 3 nan
// CHECK-NEXT: blt bool [6]: 0 1 0 0 0 0
// CHECK-NEXT: bmax bool [6]: 1 1 1 0 1 1
// CHECK-NEXT: bmul bool [6]: 1 0 0 0 1 0
// CHECK-NEXT: byte int8 [6]: 7 -7 0 5 3 0
// CHECK-NEXT: cbrt float32 [6]: -2 3 0 -1 0.1 4
// CHECK-NEXT: clamp float32 [6]: -1 -0.5 0.5 1 1 nan
// CHECK-NEXT: div int32 [6]: 3 -3 -2147483648 -1 0 -1
// CHECK-NEXT: even float32 [6]: -2 -0 0 2 2 nan
// CHECK-NEXT: finite bool [6]: 0 1 0 1 1 0
// CHECK-NEXT: half float32 [6]: -0.832031 -0.166992 0.166992 0.5 0.832031 nan
// CHECK-NEXT: int int32 [6]: -2147483648 -2000000000 2000000000 2147483647 2147483647 0
// CHECK-NEXT: irem int32 [6]: 1 -1 0 5 3 0
// CHECK-NEXT: max float32 [6]: 2 -0.5 0.5 nan 2.5 nan
// CHECK-NEXT: ne bool [6]: 0 0 0 0 0 1
// CHECK-NEXT: power int32 [6]: 49 49 0 1 0 1
// CHECK-NEXT: rem float32 [6]: -0.5 -0.5 nan nan 0.5 nan
// CHECK-NEXT: select float32 [6]: -2.5 -3 0.5 nan 2.5 nan
func.func @main(%x: tensor<6xf32> {dlc.name = "x"}, %y: tensor<6xf32> {dlc.name = "y"}, %i: tensor<6xi32> {dlc.name = "i"},
                %j: tensor<6xi32> {dlc.name = "j"}, %b: tensor<6xi1> {dlc.name = "b"}, %c: tensor<6xi1> {dlc.name = "c"})
    -> (tensor<6xf32> {dlc.name = "max"}, tensor<6xf32> {dlc.name = "afz"}, tensor<6xf32> {dlc.name = "even"},
        tensor<6xf32> {dlc.name = "rem"}, tensor<6xi32> {dlc.name = "int"}, tensor<6xi8> {dlc.name = "byte"},
        tensor<6xi32> {dlc.name = "div"}, tensor<6xi32> {dlc.name = "irem"}, tensor<6xi1> {dlc.name = "finite"},
        tensor<6xi1> {dlc.name = "ne"}, tensor<6xi1> {dlc.name = "blt"}, tensor<6xi1> {dlc.name = "bmax"},
        tensor<6xi1> {dlc.name = "bmul"}, tensor<6xf32> {dlc.name = "clamp"}, tensor<6xf32> {dlc.name = "select"},
        tensor<6xf32> {dlc.name = "cbrt"}, tensor<6xf32> {dlc.name = "half"}, tensor<6xi32> {dlc.name = "power"}) {
  %max = stablehlo.maximum %x, %y : tensor<6xf32>
  %afz = stablehlo.round_nearest_afz %x : tensor<6xf32>
  %even = stablehlo.round_nearest_even %x : tensor<6xf32>
  %rem = stablehlo.remainder %x, %y : tensor<6xf32>
  %scale = stablehlo.constant dense<4.0e9> : tensor<6xf32>
  %large = stablehlo.multiply %x, %scale : tensor<6xf32>
  %int = stablehlo.convert %large : (tensor<6xf32>) -> tensor<6xi32>
  %byte = stablehlo.convert %i : (tensor<6xi32>) -> tensor<6xi8>
  %div = stablehlo.divide %i, %j : tensor<6xi32>
  %irem = stablehlo.remainder %i, %j : tensor<6xi32>
  %inf = stablehlo.constant dense<[0x7F800000, 1.0, 0xFF800000, 0.0, 2.0, 1.0]> : tensor<6xf32>
  %product = stablehlo.multiply %x, %inf : tensor<6xf32>
  %finite = stablehlo.is_finite %product : (tensor<6xf32>) -> tensor<6xi1>
  %ne = stablehlo.compare NE, %x, %x, FLOAT : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
  %blt = stablehlo.compare LT, %b, %c, UNSIGNED : (tensor<6xi1>, tensor<6xi1>) -> tensor<6xi1>
  %bmax = stablehlo.maximum %b, %c : tensor<6xi1>
  %bmul = stablehlo.multiply %b, %c : tensor<6xi1>
  %low = stablehlo.constant dense<-1.0> : tensor<f32>
  %high = stablehlo.constant dense<1.0> : tensor<f32>
  %clamp = stablehlo.clamp %low, %x, %high : (tensor<f32>, tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
  %select = stablehlo.select %b, %x, %y : tensor<6xi1>, tensor<6xf32>
  %eight = stablehlo.constant dense<[-8.0, 27.0, 0.0, -1.0, 0.001, 64.0]> : tensor<6xf32>
  %cubes = stablehlo.maximum %eight, %eight : tensor<6xf32>
  %cbrt = stablehlo.cbrt %cubes : tensor<6xf32>
  %third = stablehlo.constant dense<3.0> : tensor<6xf32>
  %quotient = stablehlo.divide %x, %third : tensor<6xf32>
  %half = stablehlo.reduce_precision %quotient, format = e8m7 : tensor<6xf32>
  %power = stablehlo.power %i, %j : tensor<6xi32>
  return %max, %afz, %even, %rem, %int, %byte, %div, %irem, %finite, %ne, %blt, %bmax, %bmul, %clamp, %select, %cbrt, %half, %power
      : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xi32>, tensor<6xi8>, tensor<6xi32>, tensor<6xi32>,
        tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xi32>
}
