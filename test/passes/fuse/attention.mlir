// Fused attention on a GPU: with the adjacent transpositions, and without scores in memory.
// RUN: dlc-opt %s --dlc-decompose --dlc-fuse --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @heads
// CHECK: %[[Y:.*]] = dlc.fusion({{.*}} = %arg0, {{.*}} = %arg1, {{.*}} = %arg2)
// CHECK-COUNT-3: dlc.transpose
// CHECK: dlc.attention
// CHECK: dlc.transpose
// CHECK: return %[[Y]]
func.func @heads(%q: tensor<2x5x4x8xf32, #dlc.on<cuda:0>>, %k: tensor<2x7x4x8xf32, #dlc.on<cuda:0>>, %v: tensor<2x7x4x8xf32, #dlc.on<cuda:0>>) -> tensor<2x5x4x8xf32, #dlc.on<cuda:0>> {
  %0 = dlc.transpose %q [0, 2, 1, 3] : (tensor<2x5x4x8xf32, #dlc.on<cuda:0>>) -> tensor<2x4x5x8xf32, #dlc.on<cuda:0>>
  %1 = dlc.transpose %k [0, 2, 1, 3] : (tensor<2x7x4x8xf32, #dlc.on<cuda:0>>) -> tensor<2x4x7x8xf32, #dlc.on<cuda:0>>
  %2 = dlc.transpose %v [0, 2, 1, 3] : (tensor<2x7x4x8xf32, #dlc.on<cuda:0>>) -> tensor<2x4x7x8xf32, #dlc.on<cuda:0>>
  %3 = dlc.attention %0, %1, %2 {scale = 0.5 : f64} : (tensor<2x4x5x8xf32, #dlc.on<cuda:0>>, tensor<2x4x7x8xf32, #dlc.on<cuda:0>>, tensor<2x4x7x8xf32, #dlc.on<cuda:0>>) -> tensor<2x4x5x8xf32, #dlc.on<cuda:0>>
  %4 = dlc.transpose %3 [0, 2, 1, 3] : (tensor<2x4x5x8xf32, #dlc.on<cuda:0>>) -> tensor<2x5x4x8xf32, #dlc.on<cuda:0>>
  return %4 : tensor<2x5x4x8xf32, #dlc.on<cuda:0>>
}

// -----

// An operand whose rows are not contiguous is transposed first.
// CHECK-LABEL: func.func @turned
// CHECK: dlc.transpose
// CHECK: dlc.fusion
// CHECK-NOT: dlc.transpose
// CHECK: dlc.attention
func.func @turned(%q: tensor<2x5x8xf16, #dlc.on<cuda:0>>, %k: tensor<2x8x7xf16, #dlc.on<cuda:0>>, %v: tensor<2x7x8xf16, #dlc.on<cuda:0>>) -> tensor<2x5x8xf16, #dlc.on<cuda:0>> {
  %0 = dlc.transpose %k [0, 2, 1] : (tensor<2x8x7xf16, #dlc.on<cuda:0>>) -> tensor<2x7x8xf16, #dlc.on<cuda:0>>
  %1 = dlc.attention %q, %0, %v {scale = 0.5 : f64} : (tensor<2x5x8xf16, #dlc.on<cuda:0>>, tensor<2x7x8xf16, #dlc.on<cuda:0>>, tensor<2x7x8xf16, #dlc.on<cuda:0>>) -> tensor<2x5x8xf16, #dlc.on<cuda:0>>
  return %1 : tensor<2x5x8xf16, #dlc.on<cuda:0>>
}

// -----

// Forward and backward of a training step; a mask may be broadcast.
// CHECK-LABEL: func.func @training
// CHECK: dlc.fusion
// CHECK: dlc.broadcast
// CHECK: dlc.attention_train
// CHECK: dlc.fusion
// CHECK: dlc.broadcast
// CHECK: dlc.attention_grad
// CHECK-NOT: dlc.matmul
func.func @training(%q: tensor<2x5x8xf32, #dlc.on<cuda:0>>, %m: tensor<2x1x5xi1, #dlc.on<cuda:0>>, %dy: tensor<2x5x8xf32, #dlc.on<cuda:0>>) -> (tensor<2x5x8xf32, #dlc.on<cuda:0>>, tensor<2x5x8xf32, #dlc.on<cuda:0>>, tensor<2x5x8xf32, #dlc.on<cuda:0>>, tensor<2x5x8xf32, #dlc.on<cuda:0>>) {
  %0 = dlc.broadcast %m : (tensor<2x1x5xi1, #dlc.on<cuda:0>>) -> tensor<2x5x5xi1, #dlc.on<cuda:0>>
  %1:2 = dlc.attention_train %q, %q, %q, %0 {scale = 0.5 : f64} : (tensor<2x5x8xf32, #dlc.on<cuda:0>>, tensor<2x5x8xf32, #dlc.on<cuda:0>>, tensor<2x5x8xf32, #dlc.on<cuda:0>>, tensor<2x5x5xi1, #dlc.on<cuda:0>>) -> (tensor<2x5x8xf32, #dlc.on<cuda:0>>, tensor<2x5xf32, #dlc.on<cuda:0>>)
  %2:3 = dlc.attention_grad %q, %q, %q, %1#0, %1#1, %dy, %0 {scale = 0.5 : f64} : (tensor<2x5x8xf32, #dlc.on<cuda:0>>, tensor<2x5x8xf32, #dlc.on<cuda:0>>, tensor<2x5x8xf32, #dlc.on<cuda:0>>, tensor<2x5x8xf32, #dlc.on<cuda:0>>, tensor<2x5xf32, #dlc.on<cuda:0>>, tensor<2x5x8xf32, #dlc.on<cuda:0>>, tensor<2x5x5xi1, #dlc.on<cuda:0>>) -> (tensor<2x5x8xf32, #dlc.on<cuda:0>>, tensor<2x5x8xf32, #dlc.on<cuda:0>>, tensor<2x5x8xf32, #dlc.on<cuda:0>>)
  return %1#0, %2#0, %2#1, %2#2 : tensor<2x5x8xf32, #dlc.on<cuda:0>>, tensor<2x5x8xf32, #dlc.on<cuda:0>>, tensor<2x5x8xf32, #dlc.on<cuda:0>>, tensor<2x5x8xf32, #dlc.on<cuda:0>>
}

// -----

// f64, heads that are too long for kernels, and attention on CPUs are decomposed into matmuls and a softmax.
// CHECK-LABEL: func.func @others
// CHECK-NOT: dlc.attention
// CHECK-COUNT-6: dlc.matmul
// CHECK-NOT: dlc.attention
func.func @others(%q: tensor<2x5x8xf64, #dlc.on<cuda:0>>, %l: tensor<2x5x264xf32, #dlc.on<cuda:0>>, %c: tensor<2x5x8xf32, #dlc.on<cpu>>) -> (tensor<2x5x8xf64, #dlc.on<cuda:0>>, tensor<2x5x264xf32, #dlc.on<cuda:0>>, tensor<2x5x8xf32, #dlc.on<cpu>>) {
  %0 = dlc.attention %q, %q, %q {scale = 0.5 : f64} : (tensor<2x5x8xf64, #dlc.on<cuda:0>>, tensor<2x5x8xf64, #dlc.on<cuda:0>>, tensor<2x5x8xf64, #dlc.on<cuda:0>>) -> tensor<2x5x8xf64, #dlc.on<cuda:0>>
  %1 = dlc.attention %l, %l, %l {scale = 0.5 : f64} : (tensor<2x5x264xf32, #dlc.on<cuda:0>>, tensor<2x5x264xf32, #dlc.on<cuda:0>>, tensor<2x5x264xf32, #dlc.on<cuda:0>>) -> tensor<2x5x264xf32, #dlc.on<cuda:0>>
  %2 = dlc.attention %c, %c, %c {scale = 0.5 : f64} : (tensor<2x5x8xf32, #dlc.on<cpu>>, tensor<2x5x8xf32, #dlc.on<cpu>>, tensor<2x5x8xf32, #dlc.on<cpu>>) -> tensor<2x5x8xf32, #dlc.on<cpu>>
  return %0, %1, %2 : tensor<2x5x8xf64, #dlc.on<cuda:0>>, tensor<2x5x264xf32, #dlc.on<cuda:0>>, tensor<2x5x8xf32, #dlc.on<cpu>>
}
