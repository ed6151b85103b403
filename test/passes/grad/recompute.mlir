// RUN: dlc-opt %s --dlc-recompute --split-input-file | FileCheck %s
// RUN: dlc-opt %s --dlc-recompute --dlc-place --dlc-fuse --split-input-file | FileCheck %s --check-prefix=FUSED

// x is there for the second product anyway: relu of it is computed again beside its late reader.
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

// What is only compared late is kept as the answer: a byte an element.
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

// Dropout's mask comes from the counter again; a parameter's cast does not.
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
