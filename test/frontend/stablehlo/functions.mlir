// Functions of floats, of stablehlo and of chlo.
// REQUIRES: dlc
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/arrays.py %t x='f32([0.25, 0.5])'
// RUN: dlc run %s --input x=%t/x.npy --output-dir %t/out > %t/log
// RUN: %python %S/Inputs/show.py %t/out | FileCheck %s
// CHECK: asin float32 [2]: 0.25268 0.523599
// CHECK-NEXT: atan2 float32 [2]: 0.192294 0.29445
// CHECK-NEXT: erf float32 [2]: 0.276326 0.5205
// CHECK-NEXT: erf_inv float32 [2]: 0.225312 0.476936
// CHECK-NEXT: exp float32 [2]: 1.28403 1.64872
// CHECK-NEXT: expm1 float32 [2]: 0.284025 0.648721
// CHECK-NEXT: is_inf bool [2]: 0 0
// CHECK-NEXT: log float32 [2]: -1.38629 -0.693147
// CHECK-NEXT: log1p float32 [2]: 0.223144 0.405465
// CHECK-NEXT: logistic float32 [2]: 0.562177 0.622459
// CHECK-NEXT: rsqrt float32 [2]: 2 1.41421
// CHECK-NEXT: sine float32 [2]: 0.247404 0.479426
// CHECK-NEXT: square float32 [2]: 0.0625 0.25
// CHECK-NEXT: tanh float32 [2]: 0.244919 0.462117
func.func @main(%x: tensor<2xf32> {dlc.name = "x"})
    -> (tensor<2xf32> {dlc.name = "exp"}, tensor<2xf32> {dlc.name = "expm1"}, tensor<2xf32> {dlc.name = "log"}, tensor<2xf32> {dlc.name = "log1p"},
        tensor<2xf32> {dlc.name = "logistic"}, tensor<2xf32> {dlc.name = "rsqrt"}, tensor<2xf32> {dlc.name = "tanh"}, tensor<2xf32> {dlc.name = "sine"},
        tensor<2xf32> {dlc.name = "atan2"}, tensor<2xf32> {dlc.name = "erf"}, tensor<2xf32> {dlc.name = "erf_inv"}, tensor<2xf32> {dlc.name = "square"},
        tensor<2xf32> {dlc.name = "asin"}, tensor<2xi1> {dlc.name = "is_inf"}) {
  %0 = stablehlo.exponential %x : tensor<2xf32>
  %1 = stablehlo.exponential_minus_one %x : tensor<2xf32>
  %2 = stablehlo.log %x : tensor<2xf32>
  %3 = stablehlo.log_plus_one %x : tensor<2xf32>
  %4 = stablehlo.logistic %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>} : tensor<2xf32>
  %5 = stablehlo.rsqrt %x : tensor<2xf32>
  %6 = stablehlo.tanh %x : tensor<2xf32>
  %7 = stablehlo.sine %x : tensor<2xf32>
  %8 = stablehlo.atan2 %x, %0 : tensor<2xf32>
  %9 = chlo.erf %x : tensor<2xf32> -> tensor<2xf32>
  %10 = chlo.erf_inv %x : tensor<2xf32> -> tensor<2xf32>
  %11 = chlo.square %x : tensor<2xf32> -> tensor<2xf32>
  %12 = chlo.asin %x : tensor<2xf32> -> tensor<2xf32>
  %13 = chlo.is_inf %x : tensor<2xf32> -> tensor<2xi1>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>,
      tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi1>
}
