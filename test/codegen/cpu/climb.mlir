// REQUIRES: fma
// RUN: dlc-opt %s -dlc-place -dlc-decompose -dlc-fuse -dlc-select='threads=1' -dlc-lower='threads=1 vector-bits=256' -dlc-emit-kernels='vector-bits=256' -cse | FileCheck %s

// Resized rows are loaded completely, and lanes are selected by shuffles (monotonic gather).
// CHECK-LABEL: llvm.func @k0_gather
// CHECK-NOT: masked.gather
// CHECK: llvm.load {{.*}} -> vector<8xf32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.permps"
// CHECK-NOT: masked.gather
// CHECK: llvm.return
func.func @main(%x: tensor<64x20xf32>) -> tensor<64x40xf32> {
  %i = dlc.constant dense<[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15, 16, 16, 17, 17, 18, 18, 19, 19]> : tensor<40xi64>
  %y = dlc.gather 1 %x, %i : (tensor<64x20xf32>, tensor<40xi64>) -> tensor<64x40xf32>
  return %y : tensor<64x40xf32>
}
