// RUN: dlc-opt %s --dlc-place --dlc-fuse --split-input-file | FileCheck %s

// Resizing rows is a monotonic gather: elements are selected by shuffles, and the gather is fused with its consumers.
// CHECK-LABEL: @enlarged
// CHECK: dlc.fusion
// CHECK: dlc.gather {{.*}}dlc.monotonic
// CHECK: dlc.gather {{.*}}dlc.monotonic
// CHECK: dlc.add
// CHECK-NOT: dlc.fusion
func.func @enlarged(%x: tensor<64x6xf32>) -> tensor<64x11xf32> {
  %i = dlc.constant dense<[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5]> : tensor<11xi64>
  %j = dlc.constant dense<[0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]> : tensor<11xi64>
  %0 = dlc.gather 1 %x, %i : (tensor<64x6xf32>, tensor<11xi64>) -> tensor<64x11xf32>
  %1 = dlc.gather 1 %x, %j : (tensor<64x6xf32>, tensor<11xi64>) -> tensor<64x11xf32>
  %2 = dlc.add %0, %1 : (tensor<64x11xf32>, tensor<64x11xf32>) -> tensor<64x11xf32>
  return %2 : tensor<64x11xf32>
}

// -----

// In both dimensions.
// CHECK-LABEL: @image
// CHECK: dlc.fusion
// CHECK: dlc.gather 0
// CHECK: dlc.gather 1
// CHECK-NOT: dlc.fusion
func.func @image(%x: tensor<3x4096xf32>) -> tensor<6x4098xf32> {
  %i = dlc.constant dense<[0, 0, 1, 1, 2, 2]> : tensor<6xi64>
  %j = dlc.constant dense<4094> : tensor<4098xi64>
  %0 = dlc.gather 0 %x, %i : (tensor<3x4096xf32>, tensor<6xi64>) -> tensor<6x4096xf32>
  %1 = dlc.gather 1 %0, %j : (tensor<6x4096xf32>, tensor<4098xi64>) -> tensor<6x4098xf32>
  return %1 : tensor<6x4098xf32>
}

// -----

// Indices that skip, decrease, or are out of range are gathered one by one.
// CHECK-LABEL: @others
// CHECK-NOT: dlc.monotonic
func.func @others(%x: tensor<64x6xf32>) -> (tensor<64x3xf32>, tensor<64x3xf32>, tensor<64x3xf32>) {
  %i = dlc.constant dense<[0, 1, 3]> : tensor<3xi64>
  %j = dlc.constant dense<[1, 0, 1]> : tensor<3xi64>
  %k = dlc.constant dense<[-1, 0, 0]> : tensor<3xi64>
  %0 = dlc.gather 1 %x, %i : (tensor<64x6xf32>, tensor<3xi64>) -> tensor<64x3xf32>
  %1 = dlc.gather 1 %x, %j : (tensor<64x6xf32>, tensor<3xi64>) -> tensor<64x3xf32>
  %2 = dlc.gather 1 %x, %k : (tensor<64x6xf32>, tensor<3xi64>) -> tensor<64x3xf32>
  return %0, %1, %2 : tensor<64x3xf32>, tensor<64x3xf32>, tensor<64x3xf32>
}

// -----

// Whether the indices are in range depends on the size of the symbol.
// CHECK-LABEL: @symbol
// CHECK: dlc.gather 0
// CHECK-NOT: dlc.monotonic
#batch = #size.symbol<"batch", "1..64">
func.func @symbol(%x: tensor<?x4xf32, #size.dims<[#batch]>>) -> tensor<4x4xf32> {
  %i = dlc.constant dense<[0, 0, 1, 1]> : tensor<4xi64>
  %0 = dlc.gather 0 %x, %i : (tensor<?x4xf32, #size.dims<[#batch]>>, tensor<4xi64>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
