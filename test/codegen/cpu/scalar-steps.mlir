// Operations on a reduction to a scalar are computed with the elements that use the scalar, since a scalar has no rows.
// RUN: dlc run %s --cache none | FileCheck %s
// REQUIRES: dlc

// CHECK: f32 12x8x1
func.func @main(%x: tensor<3x5xf32>, %y: tensor<12x8x1xf32>) -> tensor<12x8x1xf32> {
  %0 = dlc.reduce sum %x axes [0, 1] keepdims : (tensor<3x5xf32>) -> tensor<1x1xf32>
  %1 = dlc.log %0 : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %2 = dlc.add %1, %0 : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %3 = dlc.reshape %2 : (tensor<1x1xf32>) -> tensor<f32>
  %4 = dlc.min %y, %3 : (tensor<12x8x1xf32>, tensor<f32>) -> tensor<12x8x1xf32>
  return %4 : tensor<12x8x1xf32>
}
