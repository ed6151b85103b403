// RUN: dlc-opt %s --dlc-fuse --split-input-file | FileCheck %s

// Bias, activation and residual are the matmul's epilogue.
// CHECK-LABEL: @linear
// CHECK-COUNT-1: dlc.fusion
// CHECK: dlc.matmul
// CHECK-NEXT: dlc.add
// CHECK-NEXT: dlc.gelu
// CHECK-NEXT: dlc.add
// CHECK-NEXT: dlc.yield
// CHECK-NOT: dlc.fusion
func.func @linear(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>, %b: tensor<16xf32>, %r: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %0 = dlc.matmul %x, %w : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %1 = dlc.add %0, %b : (tensor<64x16xf32>, tensor<16xf32>) -> tensor<64x16xf32>
  %2 = dlc.gelu %1 : (tensor<64x16xf32>) -> tensor<64x16xf32>
  %3 = dlc.add %r, %2 : (tensor<64x16xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
  return %3 : tensor<64x16xf32>
}

// -----

// swish(x) = x * sigmoid(x), hardswish, and the clip of ReLU6 are single epilogue ops.
// CHECK-LABEL: @activations
// CHECK: dlc.fusion
// CHECK: dlc.conv
// CHECK: dlc.sigmoid
// CHECK: dlc.mul
// CHECK: dlc.max
// CHECK: dlc.min
// CHECK: dlc.yield
// CHECK-NOT: dlc.fusion
func.func @activations(%x: tensor<1x16x8x8xf32>, %w: tensor<16x16x1x1xf32>) -> tensor<1x16x8x8xf32> {
  %zero = dlc.constant dense<0.0> : tensor<f32>
  %six = dlc.constant dense<6.0> : tensor<f32>
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x8x8xf32>
  %1 = dlc.sigmoid %0 : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %2 = dlc.mul %0, %1 : (tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %3 = dlc.max %2, %zero : (tensor<1x16x8x8xf32>, tensor<f32>) -> tensor<1x16x8x8xf32>
  %4 = dlc.min %3, %six : (tensor<1x16x8x8xf32>, tensor<f32>) -> tensor<1x16x8x8xf32>
  return %4 : tensor<1x16x8x8xf32>
}

// -----

// A result with another reader ends the epilogue; operations that oneDNN does not support are not fused.
// CHECK-LABEL: @ends
// CHECK: dlc.fusion
// CHECK: dlc.matmul
// CHECK-NEXT: dlc.yield
// CHECK: dlc.fusion
// CHECK: dlc.sin
// CHECK-NEXT: dlc.yield
func.func @ends(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>) -> tensor<64x16xf32> {
  %0 = dlc.matmul %x, %w : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %1 = dlc.sin %0 : (tensor<64x16xf32>) -> tensor<64x16xf32>
  return %1 : tensor<64x16xf32>
}

// -----

// Libraries do not support these integer matmuls.
// CHECK-LABEL: @integers
// CHECK: dlc.matmul
// CHECK-NEXT: dlc.yield
// CHECK: dlc.add
func.func @integers(%x: tensor<64x32xi32>, %w: tensor<32x16xi32>, %b: tensor<16xi32>) -> tensor<64x16xi32> {
  %0 = dlc.matmul %x, %w : (tensor<64x32xi32>, tensor<32x16xi32>) -> tensor<64x16xi32>
  %1 = dlc.add %0, %b : (tensor<64x16xi32>, tensor<16xi32>) -> tensor<64x16xi32>
  return %1 : tensor<64x16xi32>
}

// -----

// Attention's operands are read with strides from one [n, t, 3, h, d], and its result is stored as [n, t, h, d].
// CHECK-LABEL: @attention
// CHECK: %[[R:.*]] = dlc.reshape %arg0
// CHECK: %[[S:.*]] = dlc.fusion(%{{.*}} = %[[R]]) : {{.*}} -> tensor<2x4x16x16xf32>
// CHECK: dlc.transpose
// CHECK: dlc.slice
// CHECK: dlc.matmul
// CHECK-NEXT: dlc.constant
// CHECK-NEXT: dlc.mul
// CHECK-NEXT: dlc.yield
// CHECK: dlc.fusion({{.*}}%[[R]]{{.*}}) : {{.*}} -> tensor<2x16x4x8xf32>
// CHECK: dlc.matmul
// CHECK-NEXT: dlc.transpose
// CHECK-NEXT: dlc.yield
// CHECK: dlc.reshape
// CHECK-NOT: dlc.fusion
func.func @attention(%x: tensor<2x16x96xf32>) -> tensor<2x16x32xf32> {
  %s = dlc.constant dense<0.25> : tensor<f32>
  %0 = dlc.reshape %x : (tensor<2x16x96xf32>) -> tensor<2x16x3x4x8xf32>
  %1 = dlc.transpose %0 [2, 0, 3, 1, 4] : (tensor<2x16x3x4x8xf32>) -> tensor<3x2x4x16x8xf32>
  %qs = dlc.slice %1 start [0, 0, 0, 0, 0] size [1, 2, 4, 16, 8] stride [1, 1, 1, 1, 1] : (tensor<3x2x4x16x8xf32>) -> tensor<1x2x4x16x8xf32>
  %ks = dlc.slice %1 start [1, 0, 0, 0, 0] size [1, 2, 4, 16, 8] stride [1, 1, 1, 1, 1] : (tensor<3x2x4x16x8xf32>) -> tensor<1x2x4x16x8xf32>
  %vs = dlc.slice %1 start [2, 0, 0, 0, 0] size [1, 2, 4, 16, 8] stride [1, 1, 1, 1, 1] : (tensor<3x2x4x16x8xf32>) -> tensor<1x2x4x16x8xf32>
  %q = dlc.reshape %qs : (tensor<1x2x4x16x8xf32>) -> tensor<2x4x16x8xf32>
  %k = dlc.reshape %ks : (tensor<1x2x4x16x8xf32>) -> tensor<2x4x16x8xf32>
  %v = dlc.reshape %vs : (tensor<1x2x4x16x8xf32>) -> tensor<2x4x16x8xf32>
  %2 = dlc.matmul %q, %k transpose_b : (tensor<2x4x16x8xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x16x16xf32>
  %3 = dlc.mul %2, %s : (tensor<2x4x16x16xf32>, tensor<f32>) -> tensor<2x4x16x16xf32>
  %4 = dlc.matmul %3, %v : (tensor<2x4x16x16xf32>, tensor<2x4x16x8xf32>) -> tensor<2x4x16x8xf32>
  %5 = dlc.transpose %4 [0, 2, 1, 3] : (tensor<2x4x16x8xf32>) -> tensor<2x16x4x8xf32>
  %6 = dlc.reshape %5 : (tensor<2x16x4x8xf32>) -> tensor<2x16x32xf32>
  return %6 : tensor<2x16x32xf32>
}

// -----

// Adjacent elements belong to different matrices: the operand is transposed once, before the matmul.
// CHECK-LABEL: @scattered
// CHECK: dlc.transpose
// CHECK-NEXT: dlc.yield
// CHECK: dlc.fusion
// CHECK-NEXT: dlc.matmul
func.func @scattered(%w: tensor<4096x8x4x36xf32, #dlc.on<cpu>>, %x: tensor<8x36x1x4096xf32, #dlc.on<cpu>>) -> tensor<4096x8x4x1xf32, #dlc.on<cpu>> {
  %0 = dlc.transpose %x [3, 0, 1, 2] : (tensor<8x36x1x4096xf32, #dlc.on<cpu>>) -> tensor<4096x8x36x1xf32, #dlc.on<cpu>>
  %1 = dlc.matmul %w, %0 : (tensor<4096x8x4x36xf32, #dlc.on<cpu>>, tensor<4096x8x36x1xf32, #dlc.on<cpu>>) -> tensor<4096x8x4x1xf32, #dlc.on<cpu>>
  return %1 : tensor<4096x8x4x1xf32, #dlc.on<cpu>>
}
