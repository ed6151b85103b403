// Convolution: text and accepted types.
// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-opt %s --mlir-print-op-generic | dlc-opt | FileCheck %s

// CHECK-LABEL: func @conv2d
func.func @conv2d(%x: tensor<1x4x8x8xf32>, %w: tensor<6x4x3x3xf32>, %b: tensor<6xf32>) {
  // CHECK: dlc.conv %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  %0 = dlc.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  // CHECK: dlc.conv %{{.*}}, %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 2, 1>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<6xf32>) -> tensor<1x6x4x8xf32>
  %1 = dlc.conv %x, %w, %b {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 2, 1>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<6xf32>) -> tensor<1x6x4x8xf32>
  // CHECK: dlc.conv %{{.*}}, %{{.*}} {dilations = array<i64: 2, 2>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x4x4xf32>
  %2 = dlc.conv %x, %w {dilations = array<i64: 2, 2>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x4x4xf32>
  return
}

// CHECK-LABEL: func @grouped
func.func @grouped(%x: tensor<1x4x8x8xf32>, %w: tensor<8x1x3x3xf32>) {
  // CHECK: dlc.conv %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, groups = 4 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x6x6xf32>
  %0 = dlc.conv %x, %w {dilations = array<i64: 1, 1>, groups = 4 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x6x6xf32>
  return
}

// CHECK-LABEL: func @dynamic
func.func @dynamic(%x: tensor<?x4x?x8xf32>, %w: tensor<6x4x3x3xf32>) {
  // CHECK: dlc.conv %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<?x4x?x8xf32>, tensor<6x4x3x3xf32>) -> tensor<?x6x?x6xf32>
  %0 = dlc.conv %x, %w {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<?x4x?x8xf32>, tensor<6x4x3x3xf32>) -> tensor<?x6x?x6xf32>
  return
}

// CHECK-LABEL: func @conv1d
func.func @conv1d(%x: tensor<1x4x8xf32>, %w: tensor<6x4x3xf32>) {
  // CHECK: dlc.conv %{{.*}}, %{{.*}} {dilations = array<i64: 1>, groups = 1 : i64, high = array<i64: 0>, low = array<i64: 0>, strides = array<i64: 1>} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  %0 = dlc.conv %x, %w {dilations = array<i64: 1>, groups = 1 : i64, high = array<i64: 0>, low = array<i64: 0>, strides = array<i64: 1>} : (tensor<1x4x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6xf32>
  return
}

// CHECK-LABEL: func @transposed
func.func @transposed(%x: tensor<1x6x4x4xf32>, %w: tensor<6x2x3x3xf32>, %b: tensor<4xf32>) {
  // CHECK: dlc.conv_transpose %{{.*}}, %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, extra = array<i64: 1, 0>, groups = 2 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x6x4x4xf32>, tensor<6x2x3x3xf32>, tensor<4xf32>) -> tensor<1x4x8x7xf32>
  %0 = dlc.conv_transpose %x, %w, %b {dilations = array<i64: 1, 1>, extra = array<i64: 1, 0>, groups = 2 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x6x4x4xf32>, tensor<6x2x3x3xf32>, tensor<4xf32>) -> tensor<1x4x8x7xf32>
  return
}

// CHECK-LABEL: func @weight_gradient
func.func @weight_gradient(%x: tensor<2x4x8x8xf32>, %d: tensor<2x6x4x4xf32>, %n: tensor<?x4x?x8xbf16>, %m: tensor<?x6x?x4xbf16>) {
  // CHECK: dlc.conv_weight_grad %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, groups = 2 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x8x8xf32>, tensor<2x6x4x4xf32>) -> tensor<6x2x2x2xf32>
  %0 = dlc.conv_weight_grad %x, %d {dilations = array<i64: 1, 1>, groups = 2 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x4x8x8xf32>, tensor<2x6x4x4xf32>) -> tensor<6x2x2x2xf32>
  // CHECK: -> tensor<6x4x2x2xbf16>
  %1 = dlc.conv_weight_grad %n, %m {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x4x?x8xbf16>, tensor<?x6x?x4xbf16>) -> tensor<6x4x2x2xbf16>
  return
}
