// Quantized operations as elementwise operations.
// RUN: dlc-opt %s -dlc-expand-quantized | FileCheck %s

// CHECK-LABEL: @dequantize
// CHECK-DAG: %[[Z:.*]] = dlc.constant dense<3> : tensor<i32>
// CHECK-DAG: %[[X:.*]] = dlc.cast %arg0 to i32
// CHECK: %[[D:.*]] = dlc.sub %[[X]], %[[Z]]
// CHECK: %[[F:.*]] = dlc.cast %[[D]] to f32
// CHECK: %[[Y:.*]] = dlc.mul %[[F]], %arg1
// CHECK: return %[[Y]]
func.func @dequantize(%x: tensor<4x6xui8>, %s: tensor<4x1xf32>) -> tensor<4x6xf32> {
  %z = dlc.constant dense<3> : tensor<ui8>
  %0 = dlc.dequantize %x, %s, %z : (tensor<4x6xui8>, tensor<4x1xf32>, tensor<ui8>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// CHECK-LABEL: @quantize
// CHECK: dlc.div
// CHECK-NEXT: dlc.round
// CHECK: dlc.add
// CHECK: dlc.max
// CHECK: dlc.min
// CHECK: dlc.cast {{.*}} to i8
func.func @quantize(%x: tensor<4x6xf32>, %s: tensor<f32>, %z: tensor<i8>) -> tensor<4x6xi8> {
  %0 = dlc.quantize %x, %s, %z to i8 : (tensor<4x6xf32>, tensor<f32>, tensor<i8>) -> tensor<4x6xi8>
  return %0 : tensor<4x6xi8>
}

// An axis in blocks becomes two dimensions.
// CHECK-LABEL: @blocks
// CHECK: %[[S:.*]] = dlc.reshape %arg1 : (tensor<8x2xf32>) -> tensor<8x2x1xf32>
// CHECK: %[[X:.*]] = dlc.reshape %arg0 : (tensor<8x32xi8>) -> tensor<8x2x16xi8>
// CHECK: dlc.mul %{{.*}}, %[[S]] : (tensor<8x2x16xf32>, tensor<8x2x1xf32>)
// CHECK: dlc.reshape %{{.*}} : (tensor<8x2x16xf32>) -> tensor<8x32xf32>
func.func @blocks(%w: tensor<8x32xi8>, %s: tensor<8x2xf32>) -> tensor<8x32xf32> {
  %z = dlc.constant dense<8> : tensor<i8>
  %0 = dlc.dequantize %w, %s, %z axis 1 block_size 16 : (tensor<8x32xi8>, tensor<8x2xf32>, tensor<i8>) -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}

// If the last block is shorter, scales are repeated for the elements of their blocks. 4-bit constants become 8-bit constants.
// CHECK-LABEL: @short_blocks
// CHECK: %[[S:.*]] = dlc.constant dense<5.0{{.*}}> : tensor<8x30xf32>
// CHECK: %[[X:.*]] = dlc.constant dense<3> : tensor<8x30xui8>
// CHECK: %[[I:.*]] = dlc.cast %[[X]] to i32
// CHECK: %[[D:.*]] = dlc.sub %[[I]], %{{.*}} : (tensor<8x30xi32>, tensor<i32>)
// CHECK: %[[F:.*]] = dlc.cast %[[D]] to f32
// CHECK: dlc.mul %[[F]], %[[S]]
func.func @short_blocks() -> tensor<8x30xf32> {
  %w = dlc.constant dense<3> : tensor<8x30xui4>
  %s = dlc.constant dense<0.5> : tensor<8x2xf32>
  %z = dlc.constant dense<8> : tensor<ui4>
  %0 = dlc.dequantize %w, %s, %z axis 1 block_size 16 : (tensor<8x30xui4>, tensor<8x2xf32>, tensor<ui4>) -> tensor<8x30xf32>
  return %0 : tensor<8x30xf32>
}
