// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK-LABEL: @reduce
func.func @reduce(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: dlc.all_reduce sum %{{.*}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = dlc.all_reduce sum %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: dlc.all_reduce mean %{{.*}} over "pairs" of 2
  %1 = dlc.all_reduce mean %0 over "pairs" of 2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: dlc.all_reduce sum %{{.*}} to 1
  %2 = dlc.all_reduce sum %1 to 1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// CHECK-LABEL: @rows
func.func @rows(%x: tensor<4x3xi32>) -> tensor<4x3xi32> {
  // CHECK: dlc.reduce_scatter max %{{.*}} of 2 : (tensor<4x3xi32>) -> tensor<2x3xi32>
  %0 = dlc.reduce_scatter max %x of 2 : (tensor<4x3xi32>) -> tensor<2x3xi32>
  // CHECK: dlc.all_gather %{{.*}} of 2 : (tensor<2x3xi32>) -> tensor<4x3xi32>
  %1 = dlc.all_gather %0 of 2 : (tensor<2x3xi32>) -> tensor<4x3xi32>
  // CHECK: dlc.broadcast_ranks %{{.*}} from 1 of 2
  %2 = dlc.broadcast_ranks %1 from 1 of 2 : (tensor<4x3xi32>) -> tensor<4x3xi32>
  // CHECK: dlc.own_rows %{{.*}} of 2 : (tensor<4x3xi32>) -> tensor<2x3xi32>
  %3 = dlc.own_rows %2 of 2 : (tensor<4x3xi32>) -> tensor<2x3xi32>
  %4 = dlc.all_gather %3 of 2 : (tensor<2x3xi32>) -> tensor<4x3xi32>
  return %4 : tensor<4x3xi32>
}

// CHECK-LABEL: @own
func.func @own(%x: tensor<3x3xf32>, %y: tensor<1x3xf32>) -> tensor<2x3xf32> {
  // CHECK: dlc.own_rows %{{.*}}, %{{.*}} of 2 : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %0 = dlc.own_rows %x, %y of 2 : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
