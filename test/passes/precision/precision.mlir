// RUN: dlc-opt %s --dlc-precision='precision=bf16' --split-input-file | FileCheck %s
// RUN: dlc-opt %s --dlc-precision='precision=none' --split-input-file | FileCheck %s --check-prefix=NONE
// RUN: dlc-opt %s --dlc-precision='matmul-precision=medium' --split-input-file | FileCheck %s --check-prefix=MEDIUM

// NONE-NOT: bf16
// MEDIUM-NOT: xbf16
// MEDIUM: dlc.matmul {{.*}}dlc.math = "bf16"

// A weight is cast once for forward and backward; a value that both read is saved in 16 bits; the gradient is a f32 result.
// CHECK-LABEL: @step
// CHECK-SAME: %[[X:arg[0-9]+]]: tensor<8x16xf32>, %[[W:arg[0-9]+]]: tensor<16x16xf32>
// CHECK-DAG: %[[NX:.*]] = dlc.cast %[[X]] to bf16
// CHECK-DAG: %[[NW:.*]] = dlc.cast %[[W]] to bf16
// CHECK: %[[H:.*]] = dlc.matmul %[[NX]], %[[NW]] : {{.*}} -> tensor<8x16xbf16>
// CHECK: %[[R:.*]] = dlc.relu %[[H]] : {{.*}}bf16
// CHECK: %[[Y:.*]] = dlc.matmul %[[R]], %[[NW]]
// CHECK-NEXT: %[[WIDE:.*]] = dlc.cast %[[Y]] to f32
// CHECK: dlc.exp %[[WIDE]] : (tensor<8x16xf32>)
// CHECK: %[[ND:.*]] = dlc.cast {{.*}} to bf16
// CHECK: %[[DR:.*]] = dlc.matmul %[[ND]], %[[NW]] transpose_b
// CHECK: %[[KEEP:.*]] = dlc.compare gt %[[R]], %{{.*}} : (tensor<8x16xbf16>, tensor<bf16>)
// CHECK: dlc.select %[[KEEP]], %[[DR]], {{.*}} -> tensor<8x16xbf16>
// CHECK: %[[DW:.*]] = dlc.matmul %[[NX]], {{.*}} transpose_a
// CHECK-NEXT: %[[G:.*]] = dlc.cast %[[DW]] to f32
// CHECK: dlc.sub %[[W]], %[[G]] : (tensor<16x16xf32>, tensor<16x16xf32>)
// CHECK-NOT: dlc.cast %[[W]]
func.func @step(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = dlc.constant dense<0.0> : tensor<f32>
  %h = dlc.matmul %x, %w : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %r = dlc.relu %h : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = dlc.matmul %r, %w : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %d = dlc.exp %y : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %dr = dlc.matmul %d, %w transpose_b : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %keep = dlc.compare gt %r, %zero : (tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xi1>
  %dh = dlc.select %keep, %dr, %zero : (tensor<8x16xi1>, tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>
  %dw = dlc.matmul %x, %dh transpose_a : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  %next = dlc.sub %w, %dw : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %next : tensor<16x16xf32>
}

// -----

// Batch norm: 16-bit data, f32 statistics and parameters. The sum with two readers is rounded once.
// CHECK-LABEL: @norm
// CHECK: %[[C:.*]] = dlc.conv {{.*}} -> tensor<2x8x4x4xbf16>
// CHECK: dlc.batch_norm_train %[[C]], %{{.*}} : (tensor<2x8x4x4xbf16>, tensor<8xf32>, tensor<8xf32>) -> (tensor<2x8x4x4xbf16>, tensor<8xf32>, tensor<8xf32>)
// CHECK: %[[S:.*]] = dlc.add {{.*}} -> tensor<2x8x4x4xf32>
// CHECK: %[[N:.*]] = dlc.cast %[[S]] to bf16
// CHECK: dlc.conv %[[N]]
// CHECK: dlc.conv %[[N]]
func.func @norm(%x: tensor<2x8x4x4xf32>, %w: tensor<8x8x1x1xf32>, %s: tensor<8xf32>) -> (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<8xf32>) {
  %c = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<2x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<2x8x4x4xf32>
  %y, %mean, %variance = dlc.batch_norm_train %c, %s, %s {eps = 1.0e-5 : f64} : (tensor<2x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<2x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>)
  %a = dlc.add %y, %x : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
  %0 = dlc.conv %a, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<2x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<2x8x4x4xf32>
  %1 = dlc.conv %a, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<2x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<2x8x4x4xf32>
  return %0, %1, %mean : tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>, tensor<8xf32>
}

// -----

// Intermediate means and scales remain f32; constant weights become 16-bit constants.
// CHECK-LABEL: @rows
// CHECK: dlc.constant dense<{{.*}}> : tensor<4x4xbf16>
// CHECK: dlc.reduce mean %arg0 {{.*}} -> tensor<8x1xf32>
// CHECK: dlc.sub %arg0, %{{.*}} : (tensor<8x4xf32>, tensor<8x1xf32>)
// CHECK: dlc.cast {{.*}} to bf16
// CHECK-NEXT: dlc.matmul
func.func @rows(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %w = dlc.constant dense<[[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<4x4xf32>
  %m = dlc.reduce mean %x axes [1] keepdims : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %c = dlc.sub %x, %m : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %y = dlc.matmul %c, %w : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
