// The gradient of an activation remains a separate kernel if the unmultiplied matmul result has another reader, if the
// activation's result has another shape than the matmul's, if the formula only resembles one, and if no kernel of dlc's supports it.
// RUN: dlc compile %s --cache none --kernels vectors --to memory 2>&1 | FileCheck %s
// RUN: dlc run %s --cache none --kernels vectors | FileCheck %s --check-prefix=RESULT
// REQUIRES: dlc, fma

// CHECK-COUNT-5: exec.library "vectors"
// CHECK-NOT: _gradient
// RESULT: f32 37x65

func.func @main(%dy0: tensor<37x43xf32>, %dy1: tensor<37x43xf32>, %dy2: tensor<37x43xf32>, %dy3: tensor<37x43xf32>, %dy4: tensor<37x43xf32>, %w: tensor<65x43xf32>, %s: tensor<37x65xf32>, %t: tensor<37x65xf32>, %row: tensor<1x65xf32>, %wide: tensor<37x43xf64>, %u: tensor<37x43xf64>, %v: tensor<37x37xf64>)
    -> (tensor<37x65xf32>, tensor<37x65xf32>, tensor<37x65xf32>, tensor<37x65xf32>, tensor<37x65xf32>, tensor<37x65xf32>, tensor<37x65xf32>, tensor<37x37xf64>) {
  %zero = dlc.constant dense<0.0> : tensor<f32>
  %one = dlc.constant dense<1.0> : tensor<f32>
  // The factor is also a result.
  %p0 = dlc.matmul %dy0, %w transpose_b : (tensor<37x43xf32>, tensor<65x43xf32>) -> tensor<37x65xf32>
  %left = dlc.sub %one, %s : (tensor<f32>, tensor<37x65xf32>) -> tensor<37x65xf32>
  %factor = dlc.mul %s, %left : (tensor<37x65xf32>, tensor<37x65xf32>) -> tensor<37x65xf32>
  %d0 = dlc.mul %p0, %factor : (tensor<37x65xf32>, tensor<37x65xf32>) -> tensor<37x65xf32>
  // The matmul is also a result.
  %p1 = dlc.matmul %dy1, %w transpose_b : (tensor<37x43xf32>, tensor<65x43xf32>) -> tensor<37x65xf32>
  %on = dlc.compare gt %s, %zero : (tensor<37x65xf32>, tensor<f32>) -> tensor<37x65xi1>
  %d1 = dlc.select %on, %p1, %zero : (tensor<37x65xi1>, tensor<37x65xf32>, tensor<f32>) -> tensor<37x65xf32>
  // One row is broadcast to all.
  %p2 = dlc.matmul %dy2, %w transpose_b : (tensor<37x43xf32>, tensor<65x43xf32>) -> tensor<37x65xf32>
  %square = dlc.mul %row, %row : (tensor<1x65xf32>, tensor<1x65xf32>) -> tensor<1x65xf32>
  %less = dlc.sub %one, %square : (tensor<f32>, tensor<1x65xf32>) -> tensor<1x65xf32>
  %d2 = dlc.mul %p2, %less : (tensor<37x65xf32>, tensor<1x65xf32>) -> tensor<37x65xf32>
  // x >= 0 is not x > 0.
  %p3 = dlc.matmul %dy3, %w transpose_b : (tensor<37x43xf32>, tensor<65x43xf32>) -> tensor<37x65xf32>
  %from = dlc.compare ge %t, %zero : (tensor<37x65xf32>, tensor<f32>) -> tensor<37x65xi1>
  %d3 = dlc.select %from, %p3, %zero : (tensor<37x65xi1>, tensor<37x65xf32>, tensor<f32>) -> tensor<37x65xf32>
  // y (1 - t) is not the gradient of an activation.
  %p4 = dlc.matmul %dy4, %w transpose_b : (tensor<37x43xf32>, tensor<65x43xf32>) -> tensor<37x65xf32>
  %other = dlc.sub %one, %t : (tensor<f32>, tensor<37x65xf32>) -> tensor<37x65xf32>
  %mixed = dlc.mul %s, %other : (tensor<37x65xf32>, tensor<37x65xf32>) -> tensor<37x65xf32>
  %d4 = dlc.mul %p4, %mixed : (tensor<37x65xf32>, tensor<37x65xf32>) -> tensor<37x65xf32>
  %p5 = dlc.matmul %wide, %u transpose_b : (tensor<37x43xf64>, tensor<37x43xf64>) -> tensor<37x37xf64>
  %none = dlc.constant dense<0.0> : tensor<f64>
  %open = dlc.compare gt %v, %none : (tensor<37x37xf64>, tensor<f64>) -> tensor<37x37xi1>
  %d5 = dlc.select %open, %p5, %none : (tensor<37x37xi1>, tensor<37x37xf64>, tensor<f64>) -> tensor<37x37xf64>
  return %d0, %factor, %d1, %p1, %d2, %d3, %d4, %d5 : tensor<37x65xf32>, tensor<37x65xf32>, tensor<37x65xf32>, tensor<37x65xf32>, tensor<37x65xf32>, tensor<37x65xf32>, tensor<37x65xf32>, tensor<37x37xf64>
}
