// A reduction over a row and the dimensions before it is computed once for all rows that use it: these rows are one work unit.
// RUN: dlc-opt %s -dlc-place -dlc-decompose -dlc-fuse -dlc-select='threads=1' -dlc-lower='threads=1 vector-bits=512' | FileCheck %s

// CHECK: exec.launch @k0_mul_mul_reduce_rsqrt{{[a-z_]*}}({{.*}} extent 32 grain
func.func @main(%style: tensor<1x1x48x1x1xf32>, %w: tensor<1x32x48x3x3xf32>) -> tensor<1x32x48x3x3xf32> {
  %m = dlc.mul %style, %w : (tensor<1x1x48x1x1xf32>, tensor<1x32x48x3x3xf32>) -> tensor<1x32x48x3x3xf32>
  %q = dlc.mul %m, %m : (tensor<1x32x48x3x3xf32>, tensor<1x32x48x3x3xf32>) -> tensor<1x32x48x3x3xf32>
  %s = dlc.reduce sum %q axes [2, 3, 4] keepdims : (tensor<1x32x48x3x3xf32>) -> tensor<1x32x1x1x1xf32>
  %r = dlc.rsqrt %s : (tensor<1x32x1x1x1xf32>) -> tensor<1x32x1x1x1xf32>
  %y = dlc.mul %m, %r : (tensor<1x32x48x3x3xf32>, tensor<1x32x1x1x1xf32>) -> tensor<1x32x48x3x3xf32>
  return %y : tensor<1x32x48x3x3xf32>
}
