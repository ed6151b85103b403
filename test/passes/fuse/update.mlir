// RUN: dlc-opt %s --dlc-fuse --split-input-file | FileCheck %s

// w - lr * x^T dy: the update is fused into the matmul, which may accumulate in place.
// CHECK-LABEL: @sgd
// CHECK: dlc.fusion(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %arg0) {{.*}} attributes {dlc.updates = 2 : i64}
// CHECK-NEXT: dlc.matmul
// CHECK: dlc.mul
// CHECK-NEXT: dlc.sub
// CHECK-NEXT: dlc.yield
// CHECK-NOT: dlc.fusion
func.func @sgd(%w: tensor<32x16xf32> {dlc.name = "w", dlc.state}, %x: tensor<8x32xf32>, %dy: tensor<8x16xf32>) -> (tensor<32x16xf32> {dlc.name = "w", dlc.state}) {
  %lr = dlc.constant dense<0.1> : tensor<f32>
  %0 = dlc.matmul %x, %dy transpose_a : (tensor<8x32xf32>, tensor<8x16xf32>) -> tensor<32x16xf32>
  %1 = dlc.mul %0, %lr : (tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
  %2 = dlc.sub %w, %1 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  return %2 : tensor<32x16xf32>
}

// -----

// The rate may be known only at run time.
// CHECK-LABEL: @rate
// CHECK: dlc.fusion{{.*}} attributes {dlc.updates = 3 : i64}
// CHECK-NOT: dlc.fusion
func.func @rate(%w: tensor<32x16xf32> {dlc.name = "w", dlc.state}, %lr: tensor<f32>, %x: tensor<8x32xf32>, %dy: tensor<8x16xf32>) -> (tensor<32x16xf32> {dlc.name = "w", dlc.state}) {
  %0 = dlc.matmul %x, %dy transpose_a : (tensor<8x32xf32>, tensor<8x16xf32>) -> tensor<32x16xf32>
  %1 = dlc.mul %lr, %0 : (tensor<f32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %2 = dlc.sub %w, %1 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  return %2 : tensor<32x16xf32>
}

// -----

// 0.9 * m + x^T dy: the state's factor is fused; the following operations are a separate kernel.
// CHECK-LABEL: @momentum
// CHECK: dlc.fusion{{.*}} attributes {dlc.updates = 2 : i64}
// CHECK: dlc.matmul
// CHECK: dlc.mul
// CHECK-NEXT: dlc.add
// CHECK-NEXT: dlc.yield
// CHECK: dlc.fusion
// CHECK-NOT: dlc.updates
func.func @momentum(%w: tensor<32x16xf32> {dlc.name = "w", dlc.state}, %m: tensor<32x16xf32> {dlc.name = "m", dlc.state}, %x: tensor<8x32xf32>, %dy: tensor<8x16xf32>) -> (tensor<32x16xf32> {dlc.name = "w", dlc.state}, tensor<32x16xf32> {dlc.name = "m", dlc.state}) {
  %mu = dlc.constant dense<0.9> : tensor<f32>
  %lr = dlc.constant dense<0.1> : tensor<f32>
  %0 = dlc.matmul %x, %dy transpose_a : (tensor<8x32xf32>, tensor<8x16xf32>) -> tensor<32x16xf32>
  %1 = dlc.mul %m, %mu : (tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
  %2 = dlc.add %1, %0 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %3 = dlc.mul %2, %lr : (tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
  %4 = dlc.sub %w, %3 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  return %4, %2 : tensor<32x16xf32>, tensor<32x16xf32>
}

// -----

// A gradient with another reader is stored: the update is not fused into the matmul.
// CHECK-LABEL: @norm
// CHECK-NOT: dlc.updates
// CHECK: dlc.matmul
// CHECK-NEXT: dlc.yield
// CHECK-NOT: dlc.updates
// CHECK: return
func.func @norm(%w: tensor<32x16xf32> {dlc.name = "w", dlc.state}, %x: tensor<8x32xf32>, %dy: tensor<8x16xf32>) -> (tensor<32x16xf32> {dlc.name = "w", dlc.state}, tensor<f32>) {
  %lr = dlc.constant dense<0.1> : tensor<f32>
  %0 = dlc.matmul %x, %dy transpose_a : (tensor<8x32xf32>, tensor<8x16xf32>) -> tensor<32x16xf32>
  %s = dlc.mul %0, %0 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %n = dlc.reduce sum %s axes [0, 1] : (tensor<32x16xf32>) -> tensor<f32>
  %c = dlc.mul %n, %lr : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = dlc.mul %0, %c : (tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
  %2 = dlc.sub %w, %1 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  return %2, %n : tensor<32x16xf32>, tensor<f32>
}

// -----

// The operand is not state, so that nothing is updated in place.
// CHECK-LABEL: @residual
// CHECK-NOT: dlc.updates
// CHECK: return
func.func @residual(%w: tensor<32x16xf32>, %x: tensor<8x32xf32>, %dy: tensor<8x16xf32>) -> tensor<32x16xf32> {
  %0 = dlc.matmul %x, %dy transpose_a : (tensor<8x32xf32>, tensor<8x16xf32>) -> tensor<32x16xf32>
  %2 = dlc.sub %w, %0 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  return %2 : tensor<32x16xf32>
}

// -----

// Weight decay: w - lr * (x^T dy + d * w) is accumulated in place, with one multiple of w.
// CHECK-LABEL: @decay
// CHECK: dlc.fusion{{.*}} attributes {dlc.updates = 2 : i64}
// CHECK-NOT: dlc.fusion
func.func @decay(%w: tensor<32x16xf32> {dlc.name = "w", dlc.state}, %x: tensor<8x32xf32>, %dy: tensor<8x16xf32>) -> (tensor<32x16xf32> {dlc.name = "w", dlc.state}) {
  %lr = dlc.constant dense<0.5> : tensor<f32>
  %d = dlc.constant dense<0.25> : tensor<f32>
  %0 = dlc.matmul %x, %dy transpose_a : (tensor<8x32xf32>, tensor<8x16xf32>) -> tensor<32x16xf32>
  %1 = dlc.mul %w, %d : (tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
  %2 = dlc.add %0, %1 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %3 = dlc.mul %2, %lr : (tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
  %4 = dlc.sub %w, %3 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  return %4 : tensor<32x16xf32>
}

// -----

// With momentum as well, the update is not fused into the matmul; one kernel reads the gradient and both states.
// CHECK-LABEL: @decayed_momentum
// CHECK-NOT: dlc.updates
// CHECK: dlc.matmul
// CHECK-NEXT: dlc.yield
// CHECK-NOT: dlc.updates
// CHECK: dlc.fusion
// CHECK-NOT: dlc.fusion
// CHECK: return
func.func @decayed_momentum(%w: tensor<32x16xf32> {dlc.name = "w", dlc.state}, %m: tensor<32x16xf32> {dlc.name = "m", dlc.state}, %x: tensor<8x32xf32>, %dy: tensor<8x16xf32>) -> (tensor<32x16xf32> {dlc.name = "w", dlc.state}, tensor<32x16xf32> {dlc.name = "m", dlc.state}) {
  %lr = dlc.constant dense<0.5> : tensor<f32>
  %d = dlc.constant dense<0.25> : tensor<f32>
  %0 = dlc.matmul %x, %dy transpose_a : (tensor<8x32xf32>, tensor<8x16xf32>) -> tensor<32x16xf32>
  %1 = dlc.mul %w, %d : (tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
  %2 = dlc.add %0, %1 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %3 = dlc.mul %m, %lr : (tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
  %4 = dlc.add %3, %2 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %5 = dlc.mul %4, %lr : (tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
  %6 = dlc.sub %w, %5 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  return %6, %4 : tensor<32x16xf32>, tensor<32x16xf32>
}

// -----

// The matmul itself reads the old value, which must not be overwritten meanwhile.
// CHECK-LABEL: @reads_itself
// CHECK-NOT: dlc.updates
// CHECK: return
func.func @reads_itself(%w: tensor<16x16xf32> {dlc.name = "w", dlc.state}, %x: tensor<16x16xf32>) -> (tensor<16x16xf32> {dlc.name = "w", dlc.state}) {
  %0 = dlc.matmul %x, %w : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = dlc.sub %w, %0 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %1 : tensor<16x16xf32>
}
