// RUN: dlc-opt %s --dlc-place --dlc-decompose --split-input-file | FileCheck %s

// Four heads share keys: their rows are rows of one matmul, and the keys are read once.
// CHECK-LABEL: @shared
// CHECK: %[[Q:.*]] = dlc.reshape %arg0 : {{.*}} -> tensor<1x2x4x16xf32
// CHECK: %[[Y:.*]] = dlc.matmul %[[Q]], %arg1 transpose_b : {{.*}} -> tensor<1x2x4x100xf32
// CHECK: dlc.reshape %[[Y]] : {{.*}} -> tensor<1x8x1x100xf32
func.func @shared(%q: tensor<1x8x1x16xf32>, %k: tensor<1x2x100x16xf32>) -> tensor<1x8x1x100xf32> {
  %0 = dlc.reshape %k : (tensor<1x2x100x16xf32>) -> tensor<1x2x1x100x16xf32>
  %1 = dlc.broadcast %0 : (tensor<1x2x1x100x16xf32>) -> tensor<1x2x4x100x16xf32>
  %2 = dlc.reshape %1 : (tensor<1x2x4x100x16xf32>) -> tensor<1x8x100x16xf32>
  %y = dlc.matmul %q, %2 transpose_b : (tensor<1x8x1x16xf32>, tensor<1x8x100x16xf32>) -> tensor<1x8x1x100xf32>
  return %y : tensor<1x8x1x100xf32>
}

// -----

// Adjacent heads use different keys, repeated cyclically, so that heads cannot be merged.
// CHECK-LABEL: @inturn
// CHECK: dlc.broadcast
// CHECK: dlc.matmul {{.*}} -> tensor<1x8x1x100xf32
func.func @inturn(%q: tensor<1x8x1x16xf32>, %k: tensor<1x2x100x16xf32>) -> tensor<1x8x1x100xf32> {
  %0 = dlc.reshape %k : (tensor<1x2x100x16xf32>) -> tensor<1x1x2x100x16xf32>
  %1 = dlc.broadcast %0 : (tensor<1x1x2x100x16xf32>) -> tensor<1x4x2x100x16xf32>
  %2 = dlc.reshape %1 : (tensor<1x4x2x100x16xf32>) -> tensor<1x8x100x16xf32>
  %y = dlc.matmul %q, %2 transpose_b : (tensor<1x8x1x16xf32>, tensor<1x8x100x16xf32>) -> tensor<1x8x1x100xf32>
  return %y : tensor<1x8x1x100xf32>
}
