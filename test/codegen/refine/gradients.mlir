// The gradient of an activation is fused into the epilogue of the preceding matmul, computed from the activation's result: no kernel computes the factor by which the matmul
// is multiplied, or reads the matmul's result. The other operations of that kernel remain.
// RUN: dlc compile %s --cache none --kernels vectors --to refine --print-after refine 2>&1 | FileCheck %s
// RUN: dlc compile %s --cache none --kernels onednn --to refine --print-after refine 2>&1 | FileCheck %s --check-prefix=APART
// RUN: dlc compile %s --cache none --kernels vectors --to memory 2>&1 | FileCheck %s --check-prefix=COMMAND
// The measured times of the matmul and of the kernel are compared with the fused matmul.
// RUN: rm -f %t.jsonl
// RUN: dlc tune %s --cache none --kernels vectors --db %t.jsonl --spread 1ms --budget 1s > /dev/null
// RUN: dlc compile %s --cache none --kernels vectors --db %t.jsonl --to refine --print-after refine 2>&1 | FileCheck %s
// RUN: dlc run %s --cache none --kernels vectors | FileCheck %s --check-prefix=RESULT
// REQUIRES: dlc, fma

// CHECK: dlc.fusion
// CHECK-SAME: dlc.kernel = "vectors"
// CHECK: %[[LEFT:.*]] = dlc.sub
// CHECK: %[[FACTOR:.*]] = dlc.mul {{.*}}, %[[LEFT]]
// CHECK: dlc.mul {{.*}}, %[[FACTOR]]
// CHECK-NEXT: dlc.yield
// CHECK: dlc.fusion
// CHECK-SAME: dlc.kernel = "vectors"
// CHECK: dlc.matmul
// CHECK: dlc.add
// CHECK: %[[LESS:.*]] = dlc.sub
// CHECK: dlc.mul {{.*}}%[[LESS]]
// CHECK-NEXT: dlc.yield
// CHECK: %[[DZ:.*]] = dlc.fusion
// CHECK-SAME: dlc.kernel = "vectors"
// CHECK: dlc.select
// CHECK-NEXT: dlc.yield {{.*}} : tensor<37x65xf32
// CHECK: dlc.fusion({{.*}} = %[[DZ]])
// CHECK-SAME: dlc.kernel = "generated"
// CHECK-NEXT: dlc.reduce
// CHECK-NEXT: dlc.yield
// CHECK: return

// APART: dlc.sub
// APART-NEXT: dlc.mul
// APART-NEXT: dlc.yield
// APART: dlc.matmul
// APART-NEXT: dlc.mul
// APART-NEXT: dlc.yield

// COMMAND: exec.library "vectors"{{.*}}logistic_gradient
// COMMAND: exec.library "vectors"{{.*}}tanh_gradient
// COMMAND: exec.library "vectors"{{.*}}relu_gradient
// RESULT: f32 37x65

func.func @main(%dy0: tensor<37x43xf32>, %dy1: tensor<37x43xf32>, %dy2: tensor<37x43xf32>, %w: tensor<65x43xf32>, %s: tensor<37x65xf32>, %t: tensor<37x65xf32>, %r: tensor<37x65xf32>)
    -> (tensor<37x65xf32>, tensor<37x65xf32>, tensor<37x65xf32>, tensor<65xf32>) {
  %zero = dlc.constant dense<0.0> : tensor<f32>
  %one = dlc.constant dense<1.0> : tensor<f32>
  %p0 = dlc.matmul %dy0, %w transpose_b : (tensor<37x43xf32>, tensor<65x43xf32>) -> tensor<37x65xf32>
  %left = dlc.sub %one, %s : (tensor<f32>, tensor<37x65xf32>) -> tensor<37x65xf32>
  %factor = dlc.mul %s, %left : (tensor<37x65xf32>, tensor<37x65xf32>) -> tensor<37x65xf32>
  %d0 = dlc.mul %p0, %factor : (tensor<37x65xf32>, tensor<37x65xf32>) -> tensor<37x65xf32>
  // The preceding fusion may contain more than a matmul.
  %p1 = dlc.matmul %dy1, %w transpose_b : (tensor<37x43xf32>, tensor<65x43xf32>) -> tensor<37x65xf32>
  %q1 = dlc.add %p1, %d0 : (tensor<37x65xf32>, tensor<37x65xf32>) -> tensor<37x65xf32>
  %square = dlc.mul %t, %t : (tensor<37x65xf32>, tensor<37x65xf32>) -> tensor<37x65xf32>
  %less = dlc.sub %one, %square : (tensor<f32>, tensor<37x65xf32>) -> tensor<37x65xf32>
  %d1 = dlc.mul %q1, %less : (tensor<37x65xf32>, tensor<37x65xf32>) -> tensor<37x65xf32>
  %p2 = dlc.matmul %dy2, %w transpose_b : (tensor<37x43xf32>, tensor<65x43xf32>) -> tensor<37x65xf32>
  %on = dlc.compare gt %r, %zero : (tensor<37x65xf32>, tensor<f32>) -> tensor<37x65xi1>
  %d2 = dlc.select %on, %p2, %zero : (tensor<37x65xi1>, tensor<37x65xf32>, tensor<f32>) -> tensor<37x65xf32>
  %db = dlc.reduce sum %d2 axes [0] : (tensor<37x65xf32>) -> tensor<65xf32>
  return %d0, %d1, %d2, %db : tensor<37x65xf32>, tensor<37x65xf32>, tensor<37x65xf32>, tensor<65xf32>
}
