// An epilogue that no fast matmul kernel supports becomes a separate kernel: here a division and a transposition, which a library supports
// only in its reference implementation. For other kernels, a transposed result is the matmul of the swapped, transposed operands.
// RUN: dlc compile %s --cache none --to refine --print-after refine --threads 2 --profile emeraldrapids 2>&1 | FileCheck %s
// RUN: dlc run %s --cache none | FileCheck %s --check-prefix=RESULT
// REQUIRES: dlc, avx512

// CHECK-NOT: ref:
// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]] = dlc.fusion
// CHECK-NEXT: dlc.matmul
// CHECK-NEXT: dlc.div
// CHECK-NEXT: dlc.yield
// CHECK: dlc.fusion({{.*}} = %[[S]])
// CHECK-NEXT: dlc.transpose
// CHECK: dlc.fusion{{.*}} -> tensor<128x196xf32
// CHECK: dlc.matmul
// CHECK-NEXT: dlc.add
// CHECK-NEXT: dlc.mul
// CHECK-NEXT: dlc.transpose
// CHECK-NEXT: dlc.yield
// CHECK-NOT: dlc.fusion
// RESULT: f32 128x196
func.func @main(%x: tensor<196x256xf32>, %w: tensor<256x128xf32>, %s: tensor<128xf32>, %b: tensor<128xf32>) -> (tensor<128x196xf32>, tensor<128x196xf32>) {
  %0 = dlc.matmul %x, %w : (tensor<196x256xf32>, tensor<256x128xf32>) -> tensor<196x128xf32>
  %1 = dlc.div %0, %s : (tensor<196x128xf32>, tensor<128xf32>) -> tensor<196x128xf32>
  %2 = dlc.transpose %1 [1, 0] : (tensor<196x128xf32>) -> tensor<128x196xf32>
  %v = dlc.constant dense<0.125> : tensor<256x128xf32>
  %3 = dlc.matmul %x, %v : (tensor<196x256xf32>, tensor<256x128xf32>) -> tensor<196x128xf32>
  %4 = dlc.add %3, %b : (tensor<196x128xf32>, tensor<128xf32>) -> tensor<196x128xf32>
  %5 = dlc.mul %4, %s : (tensor<196x128xf32>, tensor<128xf32>) -> tensor<196x128xf32>
  %6 = dlc.transpose %5 [1, 0] : (tensor<196x128xf32>) -> tensor<128x196xf32>
  return %2, %6 : tensor<128x196xf32>, tensor<128x196xf32>
}
