// Casts, subtractions and multiplications that dequantize become dlc.dequantize.
// RUN: dlc-opt %s -dlc-raise-quantized -cse | FileCheck %s

// CHECK-LABEL: @integers
// CHECK: %[[Y:.*]] = dlc.dequantize %arg0, %arg1, %arg2 : (tensor<4x6xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x6xf32>
// CHECK: return %[[Y]]
func.func @integers(%x: tensor<4x6xui8>, %s: tensor<f32>, %z: tensor<ui8>) -> tensor<4x6xf32> {
  %zero = dlc.cast %z to i32 : (tensor<ui8>) -> tensor<i32>
  %0 = dlc.cast %x to i32 : (tensor<4x6xui8>) -> tensor<4x6xi32>
  %1 = dlc.sub %0, %zero : (tensor<4x6xi32>, tensor<i32>) -> tensor<4x6xi32>
  %2 = dlc.cast %1 to f32 : (tensor<4x6xi32>) -> tensor<4x6xf32>
  %y = dlc.mul %2, %s : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// One scale per column, of lower rank and as first operand. The zero points are floats.
// CHECK-LABEL: @floats
// CHECK-DAG: %[[S:.*]] = dlc.reshape %arg1 : (tensor<6xf16>) -> tensor<1x6xf16>
// CHECK-DAG: %[[Z:.*]] = dlc.reshape %arg2 : (tensor<6xf16>) -> tensor<1x6xf16>
// CHECK: dlc.dequantize %arg0, %[[S]], %[[Z]] : (tensor<4x6xi8>, tensor<1x6xf16>, tensor<1x6xf16>) -> tensor<4x6xf16>
func.func @floats(%x: tensor<4x6xi8>, %s: tensor<6xf16>, %z: tensor<6xf16>) -> tensor<4x6xf16> {
  %0 = dlc.cast %x to f16 : (tensor<4x6xi8>) -> tensor<4x6xf16>
  %1 = dlc.sub %0, %z : (tensor<4x6xf16>, tensor<6xf16>) -> tensor<4x6xf16>
  %y = dlc.mul %s, %1 : (tensor<6xf16>, tensor<4x6xf16>) -> tensor<4x6xf16>
  return %y : tensor<4x6xf16>
}

// Blocks as a separate dimension, with padding of the last one.
// CHECK-LABEL: @blocks
// CHECK: %[[S:.*]] = dlc.reshape %arg1 : (tensor<8x2x1xf32>) -> tensor<8x2xf32>
// CHECK: %[[X:.*]] = dlc.slice %{{.*}} -> tensor<8x30xi8>
// CHECK: dlc.dequantize %[[X]], %[[S]] axis 1 block_size 16 : (tensor<8x30xi8>, tensor<8x2xf32>) -> tensor<8x30xf32>
func.func @blocks(%x: tensor<8x2x16xi8>, %s: tensor<8x2x1xf32>) -> tensor<8x30xf32> {
  %0 = dlc.cast %x to f32 : (tensor<8x2x16xi8>) -> tensor<8x2x16xf32>
  %1 = dlc.mul %0, %s : (tensor<8x2x16xf32>, tensor<8x2x1xf32>) -> tensor<8x2x16xf32>
  %2 = dlc.reshape %1 : (tensor<8x2x16xf32>) -> tensor<8x32xf32>
  %y = dlc.slice %2 start [0, 0] size [8, 30] stride [1, 1] : (tensor<8x32xf32>) -> tensor<8x30xf32>
  return %y : tensor<8x30xf32>
}

// Sums of integers, differences that wrap, and scales with more elements than the integers are not dequantizations.
// CHECK-LABEL: @others
// CHECK-NOT: dlc.dequantize
func.func @others(%sums: tensor<4xi32>, %x: tensor<4xui8>, %one: tensor<1xi8>, %s: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = dlc.cast %sums to f32 : (tensor<4xi32>) -> tensor<4xf32>
  %a = dlc.mul %0, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = dlc.sub %x, %x : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %2 = dlc.cast %1 to i32 : (tensor<4xui8>) -> tensor<4xi32>
  %3 = dlc.cast %2 to f32 : (tensor<4xi32>) -> tensor<4xf32>
  %4 = dlc.add %3, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = dlc.mul %4, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = dlc.cast %one to f32 : (tensor<1xi8>) -> tensor<1xf32>
  %c = dlc.mul %5, %s : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
