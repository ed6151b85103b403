// A blocked matmul is an ordinary launch: its kernel has the fusion as its body and a schedule attribute for code generation.
// RUN: dlc compile %s --threads 1 --cache none --to lower --kernels contract | FileCheck %s
// RUN: dlc compile %s --threads 1 --cache none --to lower --kernels rows | FileCheck %s --check-prefix=ROWS
// REQUIRES: dlc

// CHECK: exec.kernel @k0_matmul_add_relu attributes {packed = 1 : i64, schedule = "contract"}
// CHECK: dlc.matmul
// CHECK: exec.constant {{.*}} layout "contract:3x{{[0-9]+}}"
// CHECK: exec.launch @k0_matmul_add_relu(

// ROWS: exec.kernel @k0_matmul_add_relu {
// ROWS-NOT: layout
func.func @main(%x: tensor<5x3xf32> {dlc.name = "x"}, %r: tensor<5x4xf32> {dlc.name = "r"}) -> (tensor<5x4xf32> {dlc.name = "y"}) {
  %w = dlc.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, -1.0, -2.0, -3.0]]> : tensor<3x4xf32>
  %0 = dlc.matmul %x, %w : (tensor<5x3xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
  %1 = dlc.add %0, %r : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
  %2 = dlc.relu %1 : (tensor<5x4xf32>) -> tensor<5x4xf32>
  return %2 : tensor<5x4xf32>
}
