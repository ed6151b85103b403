// RUN: dlc compile %s --precision bf16 --to precision | FileCheck %s
// RUN: dlc compile %s --precision bf16 --precision-of 'o*t=f32' --to precision | FileCheck %s --check-prefix=NAMED
// RUN: dlc compile %s --matmul-precision medium --to precision | FileCheck %s --check-prefix=MEDIUM
// RUN: dlc compile %s --matmul-precision high --to precision | FileCheck %s --check-prefix=HIGH
// RUN: dlc run %s --precision bf16 --threads 2 --cache none | FileCheck %s --check-prefix=RESULT
// RUN: dlc run %s --precision f16 --matmul-precision medium --threads 2 --cache none | FileCheck %s --check-prefix=RESULT
// RUN: not dlc run %s --max-memory 10MB/s 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: not dlc compile %s --max-memory 500 -o %t.dlcx 2>&1 | FileCheck %s --check-prefix=LEAST

// Precisions and memory limits as command-line options.

// CHECK: dlc.matmul {{.*}} -> tensor<8x32xbf16>
// CHECK: dlc.matmul {{.*}} -> tensor<8x4xbf16>
// NAMED: dlc.matmul {{.*}} -> tensor<8x32xbf16>
// NAMED: dlc.matmul {{.*}} -> tensor<8x4xf32>
// MEDIUM: dlc.matmul {{.*}}dlc.math = "bf16"{{.*}} -> tensor<8x32xf32>
// HIGH: dlc.matmul {{.*}}dlc.math = "tf32"{{.*}} -> tensor<8x32xf32>
// RESULT: y {{ *}}f32 8x4
// BYTES: --max-memory '10MB/s': required: bytes, as in 800000, 64MiB or 1.5GiB
// LEAST: required: at most 500 bytes of state, constants and intermediate values; found: at least {{[0-9]+}}, and no value can be recomputed
func.func @main(%x: tensor<8x16xf32> {dlc.name = "x"}, %w: tensor<16x32xf32> {dlc.name = "w"}, %v: tensor<32x4xf32> {dlc.name = "v"}) -> (tensor<8x4xf32> {dlc.name = "y"}) {
  %h = dlc.matmul %x, %w : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %r = dlc.relu %h : (tensor<8x32xf32>) -> tensor<8x32xf32>
  %y = dlc.matmul %r, %v : (tensor<8x32xf32>, tensor<32x4xf32>) -> tensor<8x4xf32> loc("output")
  return %y : tensor<8x4xf32>
}
