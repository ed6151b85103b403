// The gradient of a softmax cross-entropy is computed while the matmuls that read it pack it (prologue): no kernel stores it, and the sum of its
// columns is computed at the same time. If the matmuls use other kernels, or it has another reader, it is stored.
// RUN: dlc compile %s --cache none --kernels tiles --to refine --print-after refine 2>&1 | FileCheck %s
// RUN: dlc compile %s --cache none --kernels onednn --to refine --print-after refine 2>&1 | FileCheck %s --check-prefix=APART
// RUN: dlc compile %s --cache none --kernels tiles --accuracy strict --to refine --print-after refine 2>&1 | FileCheck %s --check-prefix=APART
// RUN: dlc run %s --cache none --kernels tiles | FileCheck %s --check-prefix=RESULT
// REQUIRES: dlc, tiles

// CHECK: %[[ROWS:.*]]:3 = dlc.fusion
// CHECK-NOT: dlc.matmul
// CHECK: dlc.yield {{.*}} : tensor<64x1xf32{{.*}}>, tensor<64x1xf32{{.*}}>, tensor<64x1xf32{{.*}}>
// CHECK: dlc.fusion({{.*}}%[[ROWS]]
// CHECK-SAME: -> (tensor<8192x32xf32{{.*}}>, tensor<1x8192xf32{{.*}}>)
// CHECK: dlc.exp
// CHECK: dlc.reduce sum
// CHECK: dlc.matmul {{.*}} transpose_a
// CHECK: dlc.fusion({{.*}}%[[ROWS]]
// CHECK: dlc.exp
// CHECK: dlc.matmul
// APART: dlc.yield {{.*}}tensor<64x8192xf32
// APART: dlc.matmul
// RESULT: f32 64x32

func.func @main(%l: tensor<64x8192xf32>, %t: tensor<64x1xi64>, %x: tensor<64x32xf32>, %w: tensor<8192x32xf32>)
    -> (tensor<64x32xf32>, tensor<8192x32xf32>, tensor<8192xf32>, tensor<64x1xf32>) {
  %zero = dlc.constant dense<0.0> : tensor<f32>
  %some = dlc.constant dense<0.25> : tensor<1x1xf32>
  %less = dlc.constant dense<-0.25> : tensor<1x1xf32>
  %most = dlc.reduce max %l axes [1] keepdims : (tensor<64x8192xf32>) -> tensor<64x1xf32>
  %below = dlc.sub %l, %most : (tensor<64x8192xf32>, tensor<64x1xf32>) -> tensor<64x8192xf32>
  %e = dlc.exp %below : (tensor<64x8192xf32>) -> tensor<64x8192xf32>
  %sum = dlc.reduce sum %e axes [1] keepdims : (tensor<64x8192xf32>) -> tensor<64x1xf32>
  %columns = dlc.iota 1 : tensor<1x8192xi64>
  %hot = dlc.compare eq %columns, %t : (tensor<1x8192xi64>, tensor<64x1xi64>) -> tensor<64x8192xi1>
  %one = dlc.select %hot, %less, %zero : (tensor<64x8192xi1>, tensor<1x1xf32>, tensor<f32>) -> tensor<64x8192xf32>
  %part = dlc.div %some, %sum : (tensor<1x1xf32>, tensor<64x1xf32>) -> tensor<64x1xf32>
  %soft = dlc.mul %part, %e : (tensor<64x1xf32>, tensor<64x8192xf32>) -> tensor<64x8192xf32>
  %dl = dlc.add %one, %soft : (tensor<64x8192xf32>, tensor<64x8192xf32>) -> tensor<64x8192xf32>
  %db = dlc.reduce sum %dl axes [0] : (tensor<64x8192xf32>) -> tensor<8192xf32>
  %dw = dlc.matmul %dl, %x transpose_a : (tensor<64x8192xf32>, tensor<64x32xf32>) -> tensor<8192x32xf32>
  %dx = dlc.matmul %dl, %w : (tensor<64x8192xf32>, tensor<8192x32xf32>) -> tensor<64x32xf32>
  return %dx, %dw, %db, %sum : tensor<64x32xf32>, tensor<8192x32xf32>, tensor<8192xf32>, tensor<64x1xf32>
}
