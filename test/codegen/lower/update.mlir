// RUN: dlc-opt %s -split-input-file -dlc-place -dlc-fuse -dlc-select='threads=1 kernels=onednn' -dlc-lower='threads=1' -dlc-plan-memory -dlc-verify-memory | FileCheck %s
// RUN: dlc-opt %s -split-input-file -dlc-place -dlc-fuse -dlc-select='threads=1 kernels=contract' -dlc-lower='threads=1' -dlc-plan-memory -dlc-verify-memory | FileCheck %s --check-prefix=GENERATED

// The matmul accumulates into the weights in place, after the matmul that reads the old ones; no gradient is stored.
// CHECK-LABEL: exec.program @main
// CHECK: %[[X:.*]] = exec.input 0
// CHECK: %[[DY:.*]] = exec.input 1
// CHECK: %[[DX:.*]] = exec.output 0
// CHECK: %[[W:.*]] = exec.state 0 : <2048>
// CHECK: %[[NEW:.*]] = exec.state 0 new
// CHECK-NOT: exec.copy
// CHECK: exec.library "onednn"(%[[DY]], %[[W]], %[[DX]]
// CHECK-NOT: exec.copy
// CHECK: exec.library "onednn"(%[[X]], %[[DY]], %[[NEW]]
// CHECK-SAME: sum
// CHECK-NOT: exec.copy

// A generated matmul stores each element when its sum is complete, so that it can do the same.
// GENERATED-LABEL: exec.program @main
// GENERATED: exec.state 0 : <2048>
// GENERATED-NOT: exec.copy
// GENERATED: exec.launch @{{[a-z0-9_]*}}_matmul_mul_sub({{.*}}) writes [3] inplace [3, 2]
// GENERATED-NOT: exec.copy
func.func @main(%w: tensor<32x16xf32> {dlc.name = "w", dlc.state}, %x: tensor<8x32xf32> {dlc.name = "x"}, %dy: tensor<8x16xf32> {dlc.name = "dy"}) -> (tensor<32x16xf32> {dlc.name = "w", dlc.state}, tensor<8x32xf32> {dlc.name = "dx"}) {
  %lr = dlc.constant dense<0.1> : tensor<f32>
  %0 = dlc.matmul %x, %dy transpose_a : (tensor<8x32xf32>, tensor<8x16xf32>) -> tensor<32x16xf32>
  %1 = dlc.mul %0, %lr : (tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
  %2 = dlc.sub %w, %1 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %dx = dlc.matmul %dy, %w transpose_b : (tensor<8x16xf32>, tensor<32x16xf32>) -> tensor<8x32xf32>
  return %2, %dx : tensor<32x16xf32>, tensor<8x32xf32>
}

// -----

// 0.9 * m + x^T dy in place of m.
// CHECK-LABEL: exec.program @main
// CHECK: %[[NEW:.*]] = exec.state 0 new
// CHECK-NOT: exec.copy
// CHECK: exec.library "onednn"(%{{.*}}, %{{.*}}, %[[NEW]]
// CHECK-SAME: scale\22:0.8999
// CHECK-NOT: exec.copy
func.func @main(%m: tensor<32x16xf32> {dlc.name = "m", dlc.state}, %x: tensor<8x32xf32> {dlc.name = "x"}, %dy: tensor<8x16xf32> {dlc.name = "dy"}) -> (tensor<32x16xf32> {dlc.name = "m", dlc.state}) {
  %mu = dlc.constant dense<0.9> : tensor<f32>
  %0 = dlc.matmul %x, %dy transpose_a : (tensor<8x32xf32>, tensor<8x16xf32>) -> tensor<32x16xf32>
  %1 = dlc.mul %m, %mu : (tensor<32x16xf32>, tensor<f32>) -> tensor<32x16xf32>
  %2 = dlc.add %1, %0 : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  return %2 : tensor<32x16xf32>
}
