// Grouped matmuls: in vectors if available, with constant matrices packed; the scalar kernel if no other supports the type. Measured results
// are correct, although the groups are known only at run time.
// RUN: dlc compile %s --cache none --kernels vectors --accuracy strict --to select | FileCheck %s
// RUN: dlc run %s --cache none --kernels vectors | FileCheck %s --check-prefix=RESULT
// RUN: dlc run %s --cache none --kernels builtin | FileCheck %s --check-prefix=RESULT
// RUN: rm -rf %t && mkdir -p %t
// RUN: dlc compile %s --threads 1 --cache %t/cache --tune --to select | FileCheck %s --check-prefix=TUNED
// RUN: dlc compile %s --threads 1 --cache none --kernels vectors -o %t/grouped.dlcx
// RUN: dlc inspect %t/grouped.dlcx | FileCheck %s --check-prefix=INSPECT
// REQUIRES: dlc, fma

// CHECK-COUNT-3: dlc.candidates = [{{[^]]*}}implementation = "vectors:avx{{[0-9]+}}", kernel = "vectors"{{.*}}dlc.kernel = "vectors"
// CHECK: dlc.grouped_matmul {{.*}}implementation = "builtin:grouped_product", kernel = "builtin"}], dlc.kernel = "builtin"
// RESULT: f32 40x48
// RESULT: bf16 40x48
// RESULT: f32 3x64x48
// RESULT: f64 40x48
// TUNED-COUNT-3: dlc.grouped_{{.*}}dlc.candidates = [{error = {{[0-9.]+}}e-0{{[3-9]}} : f64{{.*}}measured =
// Each row is multiplied by one of the matrices: 2 * 40 * 64 * 48.
// INSPECT: 246 kFLOP  vectors:avx

func.func @main(%x: tensor<40x64xf32>, %n: tensor<40x64xbf16>, %m: tensor<3x48x64xbf16>, %dy: tensor<40x48xf32>, %d: tensor<40x64xf64>, %w: tensor<3x64x48xf64>, %e: tensor<3xi32>)
    -> (tensor<40x48xf32>, tensor<40x48xbf16>, tensor<3x64x48xf32>, tensor<40x48xf64>) {
  %c = dlc.constant dense<0.125> : tensor<3x64x48xf32>
  %0 = dlc.grouped_matmul %x, %c ends %e : (tensor<40x64xf32>, tensor<3x64x48xf32>, tensor<3xi32>) -> tensor<40x48xf32>
  %1 = dlc.grouped_matmul %n, %m ends %e transpose_b : (tensor<40x64xbf16>, tensor<3x48x64xbf16>, tensor<3xi32>) -> tensor<40x48xbf16>
  %2 = dlc.grouped_weight_grad %x, %dy ends %e : (tensor<40x64xf32>, tensor<40x48xf32>, tensor<3xi32>) -> tensor<3x64x48xf32>
  %3 = dlc.grouped_matmul %d, %w ends %e : (tensor<40x64xf64>, tensor<3x64x48xf64>, tensor<3xi32>) -> tensor<40x48xf64>
  return %0, %1, %2, %3 : tensor<40x48xf32>, tensor<40x48xbf16>, tensor<3x64x48xf32>, tensor<40x48xf64>
}
