// Pooling: text and accepted types.
// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-opt %s --mlir-print-op-generic | dlc-opt | FileCheck %s

// CHECK-LABEL: func @pool
func.func @pool(%x: tensor<1x4x8x9xf32>, %d: tensor<?x4x?xf32>) {
  // CHECK: dlc.max_pool %{{.*}} {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<1x4x8x9xf32>) -> tensor<1x4x4x4xf32>
  %0 = dlc.max_pool %x {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<1x4x8x9xf32>) -> tensor<1x4x4x4xf32>
  // CHECK: dlc.max_pool %{{.*}} {dilations = array<i64: 1, 1>, high = array<i64: 0, 1>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<1x4x8x9xf32>) -> tensor<1x4x4x5xf32>
  %1 = dlc.max_pool %x {dilations = array<i64: 1, 1>, high = array<i64: 0, 1>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<1x4x8x9xf32>) -> tensor<1x4x4x5xf32>
  // CHECK: dlc.max_pool_indices %{{.*}} {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<1x4x8x9xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x4x4xi64>)
  %2:2 = dlc.max_pool_indices %x {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<1x4x8x9xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x4x4xi64>)
  // CHECK: dlc.avg_pool %{{.*}} {counted_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, high = array<i64: 1, 1>, include_pad, low = array<i64: 1, 1>, strides = array<i64: 1, 1>, window = array<i64: 3, 3>} : (tensor<1x4x8x9xf32>) -> tensor<1x4x8x9xf32>
  %3 = dlc.avg_pool %x {counted_high = array<i64: 1, 1>, dilations = array<i64: 1, 1>, high = array<i64: 1, 1>, include_pad, low = array<i64: 1, 1>, strides = array<i64: 1, 1>, window = array<i64: 3, 3>} : (tensor<1x4x8x9xf32>) -> tensor<1x4x8x9xf32>
  // CHECK: dlc.max_pool %{{.*}} {dilations = array<i64: 1>, high = array<i64: 0>, low = array<i64: 0>, strides = array<i64: 2>, window = array<i64: 2>} : (tensor<?x4x?xf32>) -> tensor<?x4x?xf32>
  %4 = dlc.max_pool %d {dilations = array<i64: 1>, high = array<i64: 0>, low = array<i64: 0>, strides = array<i64: 2>, window = array<i64: 2>} : (tensor<?x4x?xf32>) -> tensor<?x4x?xf32>
  // CHECK: dlc.max_pool_positions %{{.*}} {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<1x4x8x9xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x4x4xui8>)
  %t0:2 = dlc.max_pool_positions %x {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<1x4x8x9xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x4x4xui8>)
  // CHECK: dlc.max_pool_grad %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, spatial = array<i64: 8, 9>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<1x4x4x4xf32>, tensor<1x4x4x4xui8>) -> tensor<1x4x8x9xf32>
  %t1 = dlc.max_pool_grad %t0#0, %t0#1 {dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, low = array<i64: 0, 0>, spatial = array<i64: 8, 9>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<1x4x4x4xf32>, tensor<1x4x4x4xui8>) -> tensor<1x4x8x9xf32>
  // CHECK: dlc.avg_pool_grad %{{.*}} {counted_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, include_pad, low = array<i64: 0, 0>, spatial = array<i64: 8, 9>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<1x4x4x4xf32>) -> tensor<1x4x8x9xf32>
  %t2 = dlc.avg_pool_grad %t0#0 {counted_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, high = array<i64: 0, 0>, include_pad, low = array<i64: 0, 0>, spatial = array<i64: 8, 9>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<1x4x4x4xf32>) -> tensor<1x4x8x9xf32>
  return
}
