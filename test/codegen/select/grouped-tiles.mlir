// Constant bf16 matrices are read unpacked if they are column-major, as in linear layers; others are packed.
// RUN: dlc compile %s --threads 1 --cache none --kernels tiles --to lower | FileCheck %s
// RUN: dlc run %s --cache none --kernels tiles | FileCheck %s --check-prefix=RESULT
// REQUIRES: dlc, tiles

// CHECK: \22b\22:\22columns\22{{.*}}\22n\22:64,
// CHECK: \22b\22:\22packed\22{{.*}}\22n\22:96,
// CHECK: \22b\22:\22packed\22{{.*}}\22n\22:40,
// RESULT: bf16 40x64
func.func @main(%x: tensor<40x64xbf16>, %e: tensor<3xi32>) -> (tensor<40x64xbf16>, tensor<40x96xbf16>, tensor<40x40xbf16>) {
  %a = dlc.constant dense<0.125> : tensor<3x64x64xbf16>
  %b = dlc.constant dense<0.125> : tensor<3x64x96xbf16>
  %c = dlc.constant dense<0.125> : tensor<3x40x64xbf16>
  %0 = dlc.grouped_matmul %x, %a ends %e transpose_b : (tensor<40x64xbf16>, tensor<3x64x64xbf16>, tensor<3xi32>) -> tensor<40x64xbf16>
  %1 = dlc.grouped_matmul %x, %b ends %e : (tensor<40x64xbf16>, tensor<3x64x96xbf16>, tensor<3xi32>) -> tensor<40x96xbf16>
  %2 = dlc.grouped_matmul %x, %c ends %e transpose_b : (tensor<40x64xbf16>, tensor<3x40x64xbf16>, tensor<3xi32>) -> tensor<40x40xbf16>
  return %0, %1, %2 : tensor<40x64xbf16>, tensor<40x96xbf16>, tensor<40x40xbf16>
}
