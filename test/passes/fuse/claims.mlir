// Several kernels could fuse the same view or operation: one of them does, and the others do not or read a copy.
// RUN: dlc-opt %s --dlc-decompose --dlc-fuse --split-input-file | FileCheck %s

// With one head, strides express the reshape from attention's rows to the matmul's: attention stores through the transposition, and the matmul
// reads its result.
// CHECK-LABEL: func.func @one_head
// CHECK: %[[Y:.*]] = dlc.fusion
// CHECK: dlc.attention
// CHECK-NEXT: dlc.transpose
// CHECK: dlc.fusion({{.*}} = %{{.*}}, {{.*}} = %arg3)
// CHECK-NOT: dlc.transpose
// CHECK: dlc.matmul
func.func @one_head(%q: tensor<2x1x5x8xf32, #dlc.on<cuda:0>>, %k: tensor<2x1x7x8xf32, #dlc.on<cuda:0>>, %v: tensor<2x1x7x8xf32, #dlc.on<cuda:0>>, %w: tensor<8x6xf32, #dlc.on<cuda:0>>) -> tensor<2x5x6xf32, #dlc.on<cuda:0>> {
  %0 = dlc.attention %q, %k, %v {scale = 0.5 : f64} : (tensor<2x1x5x8xf32, #dlc.on<cuda:0>>, tensor<2x1x7x8xf32, #dlc.on<cuda:0>>, tensor<2x1x7x8xf32, #dlc.on<cuda:0>>) -> tensor<2x1x5x8xf32, #dlc.on<cuda:0>>
  %1 = dlc.transpose %0 [0, 2, 1, 3] : (tensor<2x1x5x8xf32, #dlc.on<cuda:0>>) -> tensor<2x5x1x8xf32, #dlc.on<cuda:0>>
  %2 = dlc.reshape %1 : (tensor<2x5x1x8xf32, #dlc.on<cuda:0>>) -> tensor<2x5x8xf32, #dlc.on<cuda:0>>
  %3 = dlc.matmul %2, %w : (tensor<2x5x8xf32, #dlc.on<cuda:0>>, tensor<8x6xf32, #dlc.on<cuda:0>>) -> tensor<2x5x6xf32, #dlc.on<cuda:0>>
  return %3 : tensor<2x5x6xf32, #dlc.on<cuda:0>>
}

// -----

// A transposition between two matmuls is fused into the second one, which reads with strides.
// CHECK-LABEL: func.func @between
// CHECK: dlc.fusion
// CHECK-NEXT: dlc.matmul
// CHECK-NEXT: dlc.yield
// CHECK: dlc.fusion
// CHECK: dlc.transpose
// CHECK-NEXT: dlc.matmul
func.func @between(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %c: tensor<4x5xf32>) -> tensor<6x5xf32> {
  %0 = dlc.matmul %a, %b : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = dlc.transpose %0 [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %2 = dlc.matmul %1, %c : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  return %2 : tensor<6x5xf32>
}

// -----

// The gradient of a state that is used twice has two matmuls: the first one adds the second one's result and updates the state.
// CHECK-LABEL: func.func @tied
// CHECK: dlc.fusion
// CHECK: dlc.matmul
// CHECK-NOT: dlc.add
// CHECK: dlc.fusion
// CHECK: dlc.matmul
// CHECK-NEXT: dlc.add
// CHECK-NEXT: dlc.add
func.func @tied(%w: tensor<32x16xf32> {dlc.name = "w", dlc.state}, %x: tensor<8x32xf32>, %dx: tensor<8x16xf32>, %y: tensor<8x32xf32>, %dy: tensor<8x16xf32>) -> (tensor<32x16xf32> {dlc.name = "w", dlc.state}) {
  %0 = dlc.matmul %x, %dx transpose_a : (tensor<8x32xf32>, tensor<8x16xf32>) -> tensor<32x16xf32>
  %1 = dlc.matmul %y, %dy transpose_a : (tensor<8x32xf32>, tensor<8x16xf32>) -> tensor<32x16xf32>
  %2 = dlc.add %0, %1 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %3 = dlc.add %w, %2 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  return %3 : tensor<32x16xf32>
}
