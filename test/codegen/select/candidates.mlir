// All kernels that support an operation are in one list of candidates; the fastest is chosen, or the requested one.
// RUN: dlc compile %s --threads 1 --cache none --to select | FileCheck %s
// RUN: dlc compile %s --threads 1 --cache none --to select --kernels contract | FileCheck %s --check-prefix=CONTRACT
// RUN: dlc compile %s --threads 1 --cache none --to select --kernels rows | FileCheck %s --check-prefix=ROWS
// RUN: dlc compile %s --threads 1 --cache none --to select --kernels onednn | FileCheck %s --check-prefix=ONEDNN
// RUN: not dlc-opt %s -dlc-select=kernels=fast 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// REQUIRES: dlc, dlc-opt

// Constant weights are packed at compile time.
// CHECK: dlc.fusion
// CHECK-SAME: dlc.candidates = [{{.*}}implementation = "contract:packed"
// CHECK: dlc.fusion
// CHECK-SAME: dlc.candidates = [{{.*}}implementation = "contract", kernel

// For unpacked operands, several implementations of oneDNN are candidates.
// CHECK-SAME: implementation = "onednn:gemm:jit

// CONTRACT: dlc.candidates = [{{[^,]*}}, implementation = "contract:packed"{{.*}}"onednn:{{.*}}dlc.kernel = "contract"
// CONTRACT: dlc.candidates = [{{[^,]*}}, implementation = "contract"{{.*}}dlc.kernel = "contract"
// ROWS: dlc.candidates = [{{[^,]*}}, implementation = "generated"{{.*}}dlc.kernel = "generated"
// ONEDNN: dlc.candidates = [{{[^,]*}}, implementation = "onednn:{{.*}}dlc.kernel = "onednn", dlc.parameters = {implementation = "
// UNKNOWN: kernels 'fast': required: builtin, onednn, {{.*}}rows, contract
func.func @main(%x: tensor<4x2xf32> {dlc.name = "x"}, %v: tensor<8x8xf32> {dlc.name = "v"}) -> (tensor<4x8xf32> {dlc.name = "y"}) {
  %w = dlc.constant dense<[[0.5, -1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [-0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5]]> : tensor<2x8xf32>
  %0 = dlc.matmul %x, %w : (tensor<4x2xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  %1 = dlc.relu %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = dlc.matmul %1, %v : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
