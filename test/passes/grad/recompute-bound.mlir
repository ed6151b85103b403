// RUN: dlc-opt %s --dlc-recompute | FileCheck %s --check-prefix=FREE
// RUN: dlc-opt %s --dlc-recompute='max-memory=600000' | FileCheck %s
// RUN: not dlc-opt %s --dlc-recompute='max-memory=1000' 2>&1 | FileCheck %s --check-prefix=LEAST

// The estimate contains w (16384 bytes of state) and the 128 KiB of values that are live at the same time.
// LEAST: required: at most 1000 bytes of memory; found: {{[0-9]+}} with maximum recomputation

// FREE-NOT: dlc.recomputed

// A value that is unused at the peak and cheap for its size is recomputed before its late reader; the first matmuls are not.
// CHECK: module attributes {dlc.estimated_memory = [[BYTES:[0-9]+]] : i64}
// CHECK: dlc.matmul
// CHECK: dlc.exp
// CHECK: dlc.exp {{.*}}dlc.recomputed
func.func @main(%x: tensor<512x64xf32>, %w: tensor<64x64xf32> {dlc.name = "w", dlc.state}) -> (tensor<f32>, tensor<64x64xf32> {dlc.name = "w", dlc.state}) {
  %a = dlc.matmul %x, %w : (tensor<512x64xf32>, tensor<64x64xf32>) -> tensor<512x64xf32>
  %b = dlc.exp %a : (tensor<512x64xf32>) -> tensor<512x64xf32>
  %c = dlc.matmul %b, %w : (tensor<512x64xf32>, tensor<64x64xf32>) -> tensor<512x64xf32>
  %d = dlc.exp %c : (tensor<512x64xf32>) -> tensor<512x64xf32>
  %e = dlc.matmul %d, %w : (tensor<512x64xf32>, tensor<64x64xf32>) -> tensor<512x64xf32>
  %f = dlc.exp %e : (tensor<512x64xf32>) -> tensor<512x64xf32>
  %loss = dlc.reduce sum %f axes [0, 1] : (tensor<512x64xf32>) -> tensor<f32>
  %g = dlc.matmul %f, %w transpose_b : (tensor<512x64xf32>, tensor<64x64xf32>) -> tensor<512x64xf32>
  %h = dlc.mul %g, %d : (tensor<512x64xf32>, tensor<512x64xf32>) -> tensor<512x64xf32>
  %i = dlc.matmul %h, %w transpose_b : (tensor<512x64xf32>, tensor<64x64xf32>) -> tensor<512x64xf32>
  %j = dlc.mul %i, %b : (tensor<512x64xf32>, tensor<512x64xf32>) -> tensor<512x64xf32>
  %k = dlc.mul %j, %a : (tensor<512x64xf32>, tensor<512x64xf32>) -> tensor<512x64xf32>
  %dw = dlc.matmul %x, %k transpose_a : (tensor<512x64xf32>, tensor<512x64xf32>) -> tensor<64x64xf32>
  %next = dlc.sub %w, %dw : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %loss, %next : tensor<f32>, tensor<64x64xf32>
}
