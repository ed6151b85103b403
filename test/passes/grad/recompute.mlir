// RUN: dlc-opt %s --dlc-recompute --split-input-file | FileCheck %s
// RUN: dlc-opt %s --dlc-recompute --dlc-place --dlc-fuse --split-input-file | FileCheck %s --check-prefix=FUSED

// x is saved for the second matmul anyway, so that relu(x) is recomputed before its late reader.
// CHECK-LABEL: @again
// CHECK: %[[R:.*]] = dlc.relu %arg0 :
// CHECK: dlc.matmul %[[R]], %arg1
// CHECK: dlc.matmul
// CHECK: %[[AGAIN:.*]] = dlc.relu %arg0 {dlc.recomputed}
// CHECK-NEXT: dlc.matmul %[[AGAIN]]
// FUSED-LABEL: @again
// FUSED: dlc.relu
// FUSED: dlc.matmul
// FUSED: dlc.matmul
// FUSED: dlc.relu
// FUSED: dlc.matmul
func.func @again(%x: tensor<256x256xf32>, %w: tensor<256x256xf32> {dlc.name = "w", dlc.state}) -> (tensor<256x256xf32> {dlc.name = "w", dlc.state}) {
  %r = dlc.relu %x : (tensor<256x256xf32>) -> tensor<256x256xf32>
  %y = dlc.matmul %r, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %z = dlc.matmul %y, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %dw = dlc.matmul %r, %z transpose_a : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %next = dlc.sub %w, %dw : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  return %next : tensor<256x256xf32>
}

// -----

// If a late reader only compares a value, the result of the comparison is saved: one byte per element.
// CHECK-LABEL: @mask
// CHECK: %[[Y:.*]] = dlc.matmul %arg0, %arg1
// CHECK-NEXT: %[[M:.*]] = dlc.compare gt %[[Y]]
// CHECK: dlc.matmul
// CHECK: dlc.select %[[M]]
func.func @mask(%x: tensor<64x64xf32>, %w: tensor<64x64xf32> {dlc.name = "w", dlc.state}) -> (tensor<64x64xf32> {dlc.name = "w", dlc.state}) {
  %zero = dlc.constant dense<0.0> : tensor<f32>
  %y = dlc.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = dlc.matmul %y, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = dlc.compare gt %y, %zero : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xi1>
  %next = dlc.select %m, %z, %zero : (tensor<64x64xi1>, tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  return %next : tensor<64x64xf32>
}

// -----

// Dropout's mask is recomputed from the counter; a parameter's cast is not recomputed.
// CHECK-LABEL: @dropout
// CHECK: %[[N:.*]] = dlc.cast %arg1 to bf16
// CHECK: dlc.random
// CHECK: dlc.matmul
// CHECK: dlc.random uniform %arg2 seed 7 {dlc.recomputed}
// CHECK: dlc.compare {{.*}}dlc.recomputed
// CHECK: dlc.select
// CHECK: dlc.matmul {{.*}}%[[N]]
func.func @dropout(%x: tensor<64x64xf32>, %w: tensor<64x64xf32> {dlc.name = "w", dlc.state}, %n: tensor<i64> {dlc.name = "n", dlc.state}) -> (tensor<64x64xbf16>, tensor<64x64xf32> {dlc.name = "w", dlc.state}) {
  %half = dlc.constant dense<0.5> : tensor<f32>
  %zero = dlc.constant dense<0.0> : tensor<f32>
  %nw = dlc.cast %w to bf16 : (tensor<64x64xf32>) -> tensor<64x64xbf16>
  %random = dlc.random uniform %n seed 7 : (tensor<i64>) -> tensor<64x64xf32>
  %keep = dlc.compare ge %random, %half : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xi1>
  %d = dlc.select %keep, %x, %zero : (tensor<64x64xi1>, tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %y = dlc.matmul %d, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %next = dlc.select %keep, %y, %zero : (tensor<64x64xi1>, tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %o = dlc.matmul %nw, %nw : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %o, %next : tensor<64x64xbf16>, tensor<64x64xf32>
}

// -----

// Residuals: each is recomputed from the previous one, all at the first reader of the last one, once for all readers; values that the forward
// pass reads are not recomputed, and the statistics are the saved ones.
// CHECK-LABEL: @residuals
// CHECK: %[[Y1:.*]], %[[M1:.*]], %[[V1:.*]] = dlc.batch_norm_train
// CHECK: %[[A:.*]] = dlc.add %arg0, %[[Y1]] :
// CHECK: dlc.matmul %[[A]]
// CHECK: %[[Y2:.*]], %[[M2:.*]], %[[V2:.*]] = dlc.batch_norm_train
// CHECK: %[[B:.*]] = dlc.add %[[A]], %[[Y2]] :
// CHECK: %[[LOSS:.*]] = dlc.matmul %[[B]]
// CHECK-NOT: dlc.recomputed
// CHECK: dlc.matmul %[[LOSS]], %[[LOSS]]
// CHECK: %[[N2:.*]] = dlc.batch_norm %{{.*}}, %[[M2]], %[[V2]] {dlc.recomputed
// CHECK: %[[N1:.*]] = dlc.batch_norm %{{.*}}, %[[M1]], %[[V1]] {dlc.recomputed
// CHECK: %[[AA:.*]] = dlc.add %arg0, %[[N1]] {dlc.recomputed}
// CHECK: %[[BB:.*]] = dlc.add %[[AA]], %[[N2]] {dlc.recomputed}
// CHECK-NOT: dlc.recomputed
// CHECK: dlc.matmul %[[BB]]
// CHECK: dlc.matmul %[[BB]]
// CHECK: dlc.matmul %[[AA]]
// FUSED-LABEL: @residuals
func.func @residuals(%x: tensor<64x64xf32>, %s: tensor<64xf32>, %w: tensor<64x64xf32> {dlc.name = "w", dlc.state}) -> (tensor<64x64xf32>, tensor<64x64xf32> {dlc.name = "w", dlc.state}) {
  %c1 = dlc.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %y1, %m1, %v1 = dlc.batch_norm_train %c1, %s, %s {eps = 1.0e-5 : f64} : (tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>)
  %a = dlc.add %x, %y1 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %c2 = dlc.matmul %a, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %y2, %m2, %v2 = dlc.batch_norm_train %c2, %s, %s {eps = 1.0e-5 : f64} : (tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>)
  %b = dlc.add %a, %y2 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %loss = dlc.matmul %b, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g = dlc.matmul %loss, %loss : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %d1 = dlc.matmul %b, %g transpose_a : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %d2 = dlc.matmul %b, %d1 transpose_a : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %d3 = dlc.mul %c2, %d2 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %d4 = dlc.matmul %a, %d3 transpose_a : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %d5 = dlc.mul %c1, %d4 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %next = dlc.sub %w, %d5 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %loss, %next : tensor<64x64xf32>, tensor<64x64xf32>
}
