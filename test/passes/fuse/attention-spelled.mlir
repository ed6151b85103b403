// Two matmuls and a softmax are recognized as attention if a fused kernel is faster.
// RUN: dlc-opt %s --dlc-mark-attention='device=cuda:0 gradients' --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @plain
// CHECK-NEXT: %[[Y:.*]] = dlc.attention %arg0, %arg1, %arg2 {{.*}}scale = 1.000000e+00
// CHECK-NEXT: return %[[Y]]
func.func @plain(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32> {
  %0 = dlc.matmul %q, %k transpose_b : (tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x7xf32>
  %1 = dlc.softmax %0 {axis = 3 : i64} : (tensor<2x4x5x7xf32>) -> tensor<2x4x5x7xf32>
  %2 = dlc.matmul %1, %v : (tensor<2x4x5x7xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x5x8xf32>
  return %2 : tensor<2x4x5x8xf32>
}

// -----

// Scaled, with a mask of the scores' last dimensions, and with transposed key and value.
// CHECK-LABEL: func.func @masked
// CHECK-DAG: %[[K:.*]] = dlc.transpose %arg1 [0, 2, 1]
// CHECK-DAG: %[[V:.*]] = dlc.transpose %arg2 [0, 2, 1]
// CHECK: %[[Y:.*]] = dlc.attention %arg0, %[[K]], %[[V]], %arg3 {{.*}}scale = 2.500000e-01
// CHECK-NOT: dlc.matmul
// CHECK: return %[[Y]]
func.func @masked(%q: tensor<4x5x8xf32>, %k: tensor<4x8x7xf32>, %v: tensor<4x8x7xf32>, %mask: tensor<5x7xf32>) -> tensor<4x5x8xf32> {
  %c = dlc.constant dense<4.0> : tensor<f32>
  %0 = dlc.matmul %q, %k : (tensor<4x5x8xf32>, tensor<4x8x7xf32>) -> tensor<4x5x7xf32>
  %1 = dlc.div %0, %c : (tensor<4x5x7xf32>, tensor<f32>) -> tensor<4x5x7xf32>
  %2 = dlc.add %mask, %1 : (tensor<5x7xf32>, tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %3 = dlc.softmax %2 {axis = 2 : i64} : (tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %4 = dlc.matmul %3, %v transpose_b : (tensor<4x5x7xf32>, tensor<4x8x7xf32>) -> tensor<4x5x8xf32>
  return %4 : tensor<4x5x8xf32>
}

// -----

// The attention weights have another reader.
// CHECK-LABEL: func.func @read
// CHECK-NOT: dlc.attention
func.func @read(%q: tensor<4x5x8xf32>, %k: tensor<4x7x8xf32>, %v: tensor<4x7x8xf32>) -> (tensor<4x5x8xf32>, tensor<4x5x7xf32>) {
  %0 = dlc.matmul %q, %k transpose_b : (tensor<4x5x8xf32>, tensor<4x7x8xf32>) -> tensor<4x5x7xf32>
  %1 = dlc.softmax %0 {axis = 2 : i64} : (tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %2 = dlc.matmul %1, %v : (tensor<4x5x7xf32>, tensor<4x7x8xf32>) -> tensor<4x5x8xf32>
  return %2, %1 : tensor<4x5x8xf32>, tensor<4x5x7xf32>
}

// -----

// One key for all heads does not have the batch dimensions of attention.
// CHECK-LABEL: func.func @broadcast
// CHECK-NOT: dlc.attention
func.func @broadcast(%q: tensor<4x5x8xf32>, %k: tensor<1x7x8xf32>, %v: tensor<4x7x8xf32>) -> tensor<4x5x8xf32> {
  %0 = dlc.matmul %q, %k transpose_b : (tensor<4x5x8xf32>, tensor<1x7x8xf32>) -> tensor<4x5x7xf32>
  %1 = dlc.softmax %0 {axis = 2 : i64} : (tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %2 = dlc.matmul %1, %v : (tensor<4x5x7xf32>, tensor<4x7x8xf32>) -> tensor<4x5x8xf32>
  return %2 : tensor<4x5x8xf32>
}

// -----

// The softmax is over the queries.
// CHECK-LABEL: func.func @queries
// CHECK-NOT: dlc.attention
func.func @queries(%q: tensor<4x5x8xf32>, %k: tensor<4x7x8xf32>, %v: tensor<4x7x8xf32>) -> tensor<4x5x8xf32> {
  %0 = dlc.matmul %q, %k transpose_b : (tensor<4x5x8xf32>, tensor<4x7x8xf32>) -> tensor<4x5x7xf32>
  %1 = dlc.softmax %0 {axis = 1 : i64} : (tensor<4x5x7xf32>) -> tensor<4x5x7xf32>
  %2 = dlc.matmul %1, %v : (tensor<4x5x7xf32>, tensor<4x7x8xf32>) -> tensor<4x5x8xf32>
  return %2 : tensor<4x5x8xf32>
}
