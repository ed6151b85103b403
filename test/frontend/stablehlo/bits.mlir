// Shifts by the width or more, counts of bits, and integers reinterpreted as floats.
// REQUIRES: dlc
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/arrays.py %t i='i32([-8, 1, 255, -1, 0])' s='i32([1, 31, 4, 32, -1])' u='u32([0x3f800000, 0xc0200000, 0x7f800000, 0, 0x00400000])'
// RUN: dlc run %s --input i=%t/i.npy --input s=%t/s.npy --input u=%t/u.npy --output-dir %t/out > %t/log
// RUN: %python %S/Inputs/show.py %t/out | FileCheck %s
// CHECK: arithmetic int32 [5]: -4 0 15 -1 0
// CHECK-NEXT: clz int32 [5]: 0 31 24 0 32
// CHECK-NEXT: float float32 [5]: 1 -2.5 inf 0 5.87747e-39
// CHECK-NEXT: left int32 [5]: -16 -2147483648 4080 0 0
// CHECK-NEXT: logical int32 [5]: 2147483644 0 15 0 0
// CHECK-NEXT: not int32 [5]: 7 -2 -256 0 -1
// CHECK-NEXT: popcnt int32 [5]: 29 1 8 32 0
// CHECK-NEXT: uniform float32 [5]: 1.24805 1.75049 1.49805 1 1.00098
// CHECK-NEXT: unsigned uint32 [5]: 4294967288 1 255 4294967295 0
// CHECK-NEXT: xor int32 [5]: -7 30 251 -33 -1
func.func @main(%i: tensor<5xi32> {dlc.name = "i"}, %s: tensor<5xi32> {dlc.name = "s"}, %u: tensor<5xui32> {dlc.name = "u"})
    -> (tensor<5xi32> {dlc.name = "left"}, tensor<5xi32> {dlc.name = "logical"}, tensor<5xi32> {dlc.name = "arithmetic"},
        tensor<5xi32> {dlc.name = "popcnt"}, tensor<5xi32> {dlc.name = "clz"}, tensor<5xi32> {dlc.name = "xor"}, tensor<5xi32> {dlc.name = "not"},
        tensor<5xf32> {dlc.name = "float"}, tensor<5xui32> {dlc.name = "unsigned"}, tensor<5xf32> {dlc.name = "uniform"}) {
  %0 = stablehlo.shift_left %i, %s : tensor<5xi32>
  %1 = stablehlo.shift_right_logical %i, %s : tensor<5xi32>
  %2 = stablehlo.shift_right_arithmetic %i, %s : tensor<5xi32>
  %3 = stablehlo.popcnt %i : tensor<5xi32>
  %4 = stablehlo.count_leading_zeros %i : tensor<5xi32>
  %5 = stablehlo.xor %i, %s : tensor<5xi32>
  %6 = stablehlo.not %i : tensor<5xi32>
  %7 = stablehlo.bitcast_convert %u : (tensor<5xui32>) -> tensor<5xf32>
  %8 = stablehlo.bitcast_convert %i : (tensor<5xi32>) -> tensor<5xui32>
  %nine = stablehlo.constant dense<9> : tensor<5xui32>
  %one = stablehlo.constant dense<0x3F800000> : tensor<5xui32>
  %mantissa = stablehlo.shift_right_logical %u, %nine : tensor<5xui32>
  %merged = stablehlo.or %mantissa, %one : tensor<5xui32>
  %9 = stablehlo.bitcast_convert %merged : (tensor<5xui32>) -> tensor<5xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>,
      tensor<5xi32>, tensor<5xf32>, tensor<5xui32>, tensor<5xf32>
}
