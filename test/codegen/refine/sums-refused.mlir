// The column sums of a matrix remain a separate kernel if no matmul contracts its rows, and so do other sums: of rows, means,
// of batched matrices, and sums on which the matmul itself depends.
// RUN: dlc compile %s --cache none --kernels vectors --to memory 2>&1 | FileCheck %s
// RUN: dlc run %s --cache none --kernels vectors | FileCheck %s --check-prefix=RESULT
// REQUIRES: dlc, fma

// CHECK-COUNT-5: exec.library "vectors"
// CHECK-NOT: sums
// RESULT: f32 40x65

func.func @main(%x: tensor<70x40xf32>, %w: tensor<40x65xf32>, %dy0: tensor<70x65xf32>, %dy1: tensor<70x65xf32>, %dy2: tensor<70x65xf32>, %z: tensor<3x70x40xf32>, %dy3: tensor<3x70x65xf32>, %dy4: tensor<70x65xf32>)
    -> (tensor<40x65xf32>, tensor<70x40xf32>, tensor<65xf32>, tensor<40x65xf32>, tensor<70xf32>, tensor<40x65xf32>, tensor<65xf32>, tensor<3x40x65xf32>, tensor<65xf32>) {
  // The matmul contracts the columns.
  %db0 = dlc.reduce sum %dy0 axes [0] : (tensor<70x65xf32>) -> tensor<65xf32>
  %dx0 = dlc.matmul %dy0, %w transpose_b : (tensor<70x65xf32>, tensor<40x65xf32>) -> tensor<70x40xf32>
  %rows = dlc.reduce sum %dy1 axes [1] : (tensor<70x65xf32>) -> tensor<70xf32>
  %dw1 = dlc.matmul %x, %dy1 transpose_a : (tensor<70x40xf32>, tensor<70x65xf32>) -> tensor<40x65xf32>
  %mean = dlc.reduce mean %dy2 axes [0] : (tensor<70x65xf32>) -> tensor<65xf32>
  %dw2 = dlc.matmul %x, %dy2 transpose_a : (tensor<70x40xf32>, tensor<70x65xf32>) -> tensor<40x65xf32>
  %db3 = dlc.reduce sum %dy3 axes [0, 1] : (tensor<3x70x65xf32>) -> tensor<65xf32>
  %dw3 = dlc.matmul %z, %dy3 transpose_a : (tensor<3x70x40xf32>, tensor<3x70x65xf32>) -> tensor<3x40x65xf32>
  %db4 = dlc.reduce sum %dy4 axes [0] : (tensor<70x65xf32>) -> tensor<65xf32>
  %all = dlc.reduce sum %db4 axes [0] : (tensor<65xf32>) -> tensor<f32>
  %x4 = dlc.mul %x, %all : (tensor<70x40xf32>, tensor<f32>) -> tensor<70x40xf32>
  %dw4 = dlc.matmul %x4, %dy4 transpose_a : (tensor<70x40xf32>, tensor<70x65xf32>) -> tensor<40x65xf32>
  return %dw4, %dx0, %db0, %dw1, %rows, %dw2, %mean, %dw3, %db3 : tensor<40x65xf32>, tensor<70x40xf32>, tensor<65xf32>, tensor<40x65xf32>, tensor<70xf32>, tensor<40x65xf32>, tensor<65xf32>, tensor<3x40x65xf32>, tensor<65xf32>
}
