// RUN: dlc-opt %s --dlc-simplify --split-input-file | FileCheck %s

// CHECK-LABEL: @flag
// CHECK-NEXT: %[[Y:.*]] = dlc.matmul %arg0, %arg1 transpose_b
// CHECK-NEXT: return %[[Y]]
func.func @flag(%a: tensor<2x3x4xf32>, %b: tensor<2x5x4xf32>) -> tensor<2x3x5xf32> {
  %t = dlc.transpose %b [0, 2, 1] : (tensor<2x5x4xf32>) -> tensor<2x4x5xf32>
  %y = dlc.matmul %a, %t : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}

// -----

// Down through elementwise operations and products by a matrix until they cancel.
// CHECK-LABEL: @cancel
// CHECK-NOT: dlc.transpose
// CHECK: dlc.matmul %arg0, %arg1
// CHECK-NOT: dlc.transpose
func.func @cancel(%x: tensor<4x7x8xf32>, %w: tensor<8x16xf32>, %b: tensor<16xf32>) -> tensor<4x7x16xf32> {
  %t = dlc.transpose %x [1, 0, 2] : (tensor<4x7x8xf32>) -> tensor<7x4x8xf32>
  %m = dlc.matmul %t, %w : (tensor<7x4x8xf32>, tensor<8x16xf32>) -> tensor<7x4x16xf32>
  %a = dlc.add %m, %b : (tensor<7x4x16xf32>, tensor<16xf32>) -> tensor<7x4x16xf32>
  %r = dlc.relu %a : (tensor<7x4x16xf32>) -> tensor<7x4x16xf32>
  %u = dlc.transpose %r [1, 0, 2] : (tensor<7x4x16xf32>) -> tensor<4x7x16xf32>
  return %u : tensor<4x7x16xf32>
}

// -----

// Channels-last code around channels-first convolutions: the bias turns with it.
// CHECK-LABEL: @bias
// CHECK: %[[C:.*]] = dlc.constant dense<{{.*}}> : tensor<1x3x1x1xf32>
// CHECK: %[[Y:.*]] = dlc.add %arg0, %[[C]]
// CHECK-NEXT: return %[[Y]]
func.func @bias(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %c = dlc.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %t = dlc.transpose %x [0, 2, 3, 1] : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %a = dlc.add %t, %c : (tensor<2x4x5x3xf32>, tensor<3xf32>) -> tensor<2x4x5x3xf32>
  %u = dlc.transpose %a [0, 3, 1, 2] : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
  return %u : tensor<2x3x4x5xf32>
}

// -----

// A reshape that splits goes before the transposition.
// CHECK-LABEL: @split
// CHECK: %[[R:.*]] = dlc.reshape %arg0 : (tensor<7x24xf32>) -> tensor<7x4x6xf32>
// CHECK: dlc.transpose %[[R]] [1, 2, 0]
func.func @split(%x: tensor<7x24xf32>) -> tensor<4x6x7xf32> {
  %t = dlc.transpose %x [1, 0] : (tensor<7x24xf32>) -> tensor<24x7xf32>
  %r = dlc.reshape %t : (tensor<24x7xf32>) -> tensor<4x6x7xf32>
  return %r : tensor<4x6x7xf32>
}

// -----

// CHECK-LABEL: @unit
// CHECK: dlc.reshape %arg0 : (tensor<1x7x8xf32>) -> tensor<7x1x8xf32>
func.func @unit(%x: tensor<1x7x8xf32>) -> tensor<7x1x8xf32> {
  %t = dlc.transpose %x [1, 0, 2] : (tensor<1x7x8xf32>) -> tensor<7x1x8xf32>
  return %t : tensor<7x1x8xf32>
}

// -----

// Rows merged for a product and split after it: the product takes the batch as it is.
// CHECK-LABEL: @rows
// CHECK-NOT: dlc.reshape
// CHECK: %[[M:.*]] = dlc.matmul %arg0, %arg1 : (tensor<4x7x8xf32>, tensor<8x16xf32>) -> tensor<4x7x16xf32>
// CHECK: dlc.add %[[M]], %arg2
func.func @rows(%x: tensor<4x7x8xf32>, %w: tensor<8x16xf32>, %b: tensor<16xf32>) -> tensor<4x7x16xf32> {
  %r = dlc.reshape %x : (tensor<4x7x8xf32>) -> tensor<28x8xf32>
  %m = dlc.matmul %r, %w : (tensor<28x8xf32>, tensor<8x16xf32>) -> tensor<28x16xf32>
  %a = dlc.add %m, %b : (tensor<28x16xf32>, tensor<16xf32>) -> tensor<28x16xf32>
  %s = dlc.reshape %a : (tensor<28x16xf32>) -> tensor<4x7x16xf32>
  return %s : tensor<4x7x16xf32>
}

// -----

// A product many times wider than its operand is not what to turn.
// CHECK-LABEL: @logits
// CHECK: %[[T:.*]] = dlc.transpose %arg0 [1, 0, 2]
// CHECK-NEXT: %[[Y:.*]] = dlc.matmul %[[T]], %arg1
// CHECK-NEXT: return %[[Y]]
func.func @logits(%x: tensor<4x7x8xf32>, %w: tensor<8x100xf32>) -> tensor<7x4x100xf32> {
  %t = dlc.transpose %x [1, 0, 2] : (tensor<4x7x8xf32>) -> tensor<7x4x8xf32>
  %m = dlc.matmul %t, %w : (tensor<7x4x8xf32>, tensor<8x100xf32>) -> tensor<7x4x100xf32>
  return %m : tensor<7x4x100xf32>
}
