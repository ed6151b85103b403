// The column sums of a matrix are computed by a matmul that contracts its rows, while it packs them: as right operand, as left operand, and
// if the sum reads it in another shape. Readers of the sum may precede the matmul.
// RUN: dlc compile %s --cache none --kernels vectors --to refine --print-after refine 2>&1 | FileCheck %s
// RUN: dlc compile %s --cache none --kernels onednn --to refine --print-after refine 2>&1 | FileCheck %s --check-prefix=APART
// RUN: dlc compile %s --cache none --kernels vectors --to memory 2>&1 | FileCheck %s --check-prefix=COMMAND
// RUN: dlc compile %s --cache none --kernels strassen --accuracy default --to memory 2>&1 | FileCheck %s --check-prefix=COMMAND
// The measured times of the matmul and of the kernel are compared with the fused matmul.
// RUN: rm -f %t.jsonl
// RUN: dlc tune %s --cache none --kernels vectors --db %t.jsonl --spread 1ms --budget 1s > /dev/null
// RUN: dlc compile %s --cache none --kernels vectors --db %t.jsonl --to refine --print-after refine 2>&1 | FileCheck %s
// RUN: dlc run %s --cache none --kernels vectors | FileCheck %s --check-prefix=RESULT
// REQUIRES: dlc, fma

// CHECK: dlc.fusion
// CHECK-SAME: dlc.kernel = "vectors"
// CHECK-DAG: dlc.reduce sum {{.*}} axes [0] keepdims : (tensor<70x65xf32
// CHECK-DAG: dlc.matmul
// CHECK: dlc.yield {{.*}} : tensor<40x65xf32{{.*}}, tensor<{{.*}}x65xf32
// CHECK: dlc.fusion
// CHECK-SAME: dlc.kernel = "vectors"
// CHECK-DAG: dlc.reduce sum {{.*}} axes [0] keepdims : (tensor<70x65xf32
// CHECK-DAG: dlc.matmul
// CHECK: dlc.yield {{.*}} : tensor<65x40xf32{{.*}}, tensor<{{.*}}x65xf32
// CHECK: dlc.fusion
// CHECK-SAME: dlc.kernel = "vectors"
// CHECK-DAG: dlc.reduce sum {{.*}} axes [0, 1] keepdims : (tensor<5x14x65xf32
// CHECK-DAG: dlc.matmul
// CHECK: dlc.yield {{.*}} : tensor<40x65xf32{{.*}}, tensor<{{.*}}x65xf32
// CHECK-NOT: dlc.reduce
// CHECK: return

// APART-COUNT-3: dlc.matmul
// APART-NOT: dlc.yield {{.*}}, {{.*}} : tensor<40x65xf32{{.*}}, tensor<{{.*}}x65xf32

// COMMAND: exec.library "vectors"{{.*}}sums
// COMMAND: exec.library "vectors"{{.*}}sums
// COMMAND: exec.library "vectors"{{.*}}sums
// RESULT: f32 40x65

func.func @main(%x: tensor<70x40xf32>, %dy0: tensor<70x65xf32>, %dy1: tensor<70x65xf32>, %dy2: tensor<5x14x65xf32>)
    -> (tensor<40x65xf32>, tensor<65xf32>, tensor<65x40xf32>, tensor<65xf32>, tensor<40x65xf32>, tensor<65xf32>) {
  %two = dlc.constant dense<2.0> : tensor<f32>
  %db0 = dlc.reduce sum %dy0 axes [0] : (tensor<70x65xf32>) -> tensor<65xf32>
  %less = dlc.mul %db0, %two : (tensor<65xf32>, tensor<f32>) -> tensor<65xf32>
  %dw0 = dlc.matmul %x, %dy0 transpose_a : (tensor<70x40xf32>, tensor<70x65xf32>) -> tensor<40x65xf32>
  %db1 = dlc.reduce sum %dy1 axes [0] : (tensor<70x65xf32>) -> tensor<65xf32>
  %dw1 = dlc.matmul %dy1, %x transpose_a : (tensor<70x65xf32>, tensor<70x40xf32>) -> tensor<65x40xf32>
  %db2 = dlc.reduce sum %dy2 axes [0, 1] : (tensor<5x14x65xf32>) -> tensor<65xf32>
  %flat = dlc.reshape %dy2 : (tensor<5x14x65xf32>) -> tensor<70x65xf32>
  %dw2 = dlc.matmul %x, %flat transpose_a : (tensor<70x40xf32>, tensor<70x65xf32>) -> tensor<40x65xf32>
  return %dw0, %less, %dw1, %db1, %dw2, %db2 : tensor<40x65xf32>, tensor<65xf32>, tensor<65x40xf32>, tensor<65xf32>, tensor<40x65xf32>, tensor<65xf32>
}
