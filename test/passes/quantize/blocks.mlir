// RUN: dlc-opt %s -dlc-raise-quantized -dlc-integer-sums=costs=assumed -dlc-expand-quantized -dlc-simplify | FileCheck %s
// RUN: dlc-opt %s -dlc-raise-quantized -dlc-integer-sums=costs=assumed -dlc-expand-quantized -dlc-simplify -dlc-fuse | FileCheck %s --check-prefix=FUSE
// RUN: dlc-opt %s -dlc-raise-quantized "-dlc-integer-sums=costs=assumed device=cuda:0" -dlc-expand-quantized -dlc-simplify | FileCheck %s --check-prefix=GPU

// Quantized weights remain: their dequantization is not expanded, and is fused into the matmul.
// CHECK-LABEL: @rows
// CHECK-DAG: %[[Q:.*]] = dlc.constant dense<3> : tensor<80x60xi8>
// CHECK: %[[W:.*]] = dlc.dequantize %[[Q]], %{{.*}} axis 1 block_size 16 {{.*}} -> tensor<80x60xf32>
// CHECK: dlc.matmul %arg0, %[[W]] transpose_b {{.*}}dlc.precision = "f32", dlc.quantized_weights

// FUSE-LABEL: @rows
// FUSE: dlc.fusion
// FUSE: dlc.dequantize
// FUSE-NOT: }
// FUSE: dlc.matmul

// Without such a kernel and with many rows, the weights are dequantized.
// GPU-LABEL: @rows
// GPU-NOT: dlc.quantized_weights
// GPU: dlc.cast %{{.*}} : (tensor<80x60xi8>) -> tensor<80x60xi32>
// GPU: dlc.matmul {{.*}}tensor<80x60xf32>
func.func @rows(%x: tensor<9x60xf32>, %s: tensor<80x4x1xf32>) -> tensor<9x80xf32> {
  %q = dlc.constant dense<3> : tensor<80x4x16xi8>
  %z = dlc.constant dense<2> : tensor<80x4x1xi32>
  %scale = dlc.constant dense<0.5> : tensor<80x4x1xf32>
  %0 = dlc.cast %q to i32 : (tensor<80x4x16xi8>) -> tensor<80x4x16xi32>
  %1 = dlc.sub %0, %z : (tensor<80x4x16xi32>, tensor<80x4x1xi32>) -> tensor<80x4x16xi32>
  %2 = dlc.cast %1 to f32 : (tensor<80x4x16xi32>) -> tensor<80x4x16xf32>
  %3 = dlc.mul %2, %scale : (tensor<80x4x16xf32>, tensor<80x4x1xf32>) -> tensor<80x4x16xf32>
  %4 = dlc.reshape %3 : (tensor<80x4x16xf32>) -> tensor<80x64xf32>
  %5 = dlc.slice %4 start [0, 0] size [80, 60] stride [1, 1] : (tensor<80x64xf32>) -> tensor<80x60xf32>
  %y = dlc.matmul %x, %5 transpose_b : (tensor<9x60xf32>, tensor<80x60xf32>) -> tensor<9x80xf32>
  return %y : tensor<9x80xf32>
}

// The matmul reads [n, k] without the transposition. Without such a kernel, few rows are multiplied block by block.
// CHECK-LABEL: @turned
// CHECK-NOT: dlc.transpose
// CHECK: dlc.matmul %arg0, %{{.*}} transpose_b {{.*}}dlc.activations = "int8"

// GPU-LABEL: @turned
// GPU: dlc.matmul {{.*}}(tensor<4x1x16xf32>, tensor<4x16x80xf32>)
// GPU: dlc.mul
// GPU: dlc.reduce sum
func.func @turned(%x: tensor<1x64xf32>) -> tensor<1x80xf32> {
  %q = dlc.constant dense<3> : tensor<80x4x16xi8>
  %scale = dlc.constant dense<0.5> : tensor<80x4x1xf32>
  %0 = dlc.cast %q to i32 : (tensor<80x4x16xi8>) -> tensor<80x4x16xi32>
  %2 = dlc.cast %0 to f32 : (tensor<80x4x16xi32>) -> tensor<80x4x16xf32>
  %3 = dlc.mul %2, %scale : (tensor<80x4x16xf32>, tensor<80x4x1xf32>) -> tensor<80x4x16xf32>
  %4 = dlc.reshape %3 : (tensor<80x4x16xf32>) -> tensor<80x64xf32>
  %5 = dlc.transpose %4 [1, 0] : (tensor<80x64xf32>) -> tensor<64x80xf32>
  %y = dlc.matmul %x, %5 {dlc.activations = "int8"} : (tensor<1x64xf32>, tensor<64x80xf32>) -> tensor<1x80xf32>
  return %y : tensor<1x80xf32>
}

// Zero points remain operands of the dequantization.
// CHECK-LABEL: @many
// CHECK-DAG: %[[Z:.*]] = dlc.constant dense<-8> : tensor<2816x32xi32>
// CHECK: dlc.dequantize %{{.*}}, %{{.*}}, %[[Z]] axis 1 block_size 16
// CHECK: dlc.matmul %arg0, %{{.*}} transpose_b {{.*}}dlc.quantized_weights
func.func @many(%x: tensor<9x512xf32>) -> tensor<9x2816xf32> {
  %q = dlc.constant dense<3> : tensor<2816x32x16xi8>
  %z = dlc.constant dense<-8> : tensor<2816x32x1xi32>
  %scale = dlc.constant dense<0.5> : tensor<2816x32x1xf32>
  %0 = dlc.cast %q to i32 : (tensor<2816x32x16xi8>) -> tensor<2816x32x16xi32>
  %1 = dlc.sub %0, %z : (tensor<2816x32x16xi32>, tensor<2816x32x1xi32>) -> tensor<2816x32x16xi32>
  %2 = dlc.cast %1 to f32 : (tensor<2816x32x16xi32>) -> tensor<2816x32x16xf32>
  %3 = dlc.mul %2, %scale : (tensor<2816x32x16xf32>, tensor<2816x32x1xf32>) -> tensor<2816x32x16xf32>
  %4 = dlc.reshape %3 : (tensor<2816x32x16xf32>) -> tensor<2816x512xf32>
  %y = dlc.matmul %x, %4 transpose_b : (tensor<9x512xf32>, tensor<2816x512xf32>) -> tensor<9x2816xf32>
  return %y : tensor<9x2816xf32>
}

// Strict matmuls keep f32 weights.
// CHECK-LABEL: @strict
// CHECK: dlc.matmul {{.*}}tensor<80x64xf32>
// CHECK-NOT: dlc.precision
func.func @strict(%x: tensor<9x64xf32>) -> tensor<9x80xf32> {
  %q = dlc.constant dense<3> : tensor<80x4x16xi8>
  %scale = dlc.constant dense<0.5> : tensor<80x4x1xf32>
  %0 = dlc.cast %q to i32 : (tensor<80x4x16xi8>) -> tensor<80x4x16xi32>
  %2 = dlc.cast %0 to f32 : (tensor<80x4x16xi32>) -> tensor<80x4x16xf32>
  %3 = dlc.mul %2, %scale : (tensor<80x4x16xf32>, tensor<80x4x1xf32>) -> tensor<80x4x16xf32>
  %4 = dlc.reshape %3 : (tensor<80x4x16xf32>) -> tensor<80x64xf32>
  %y = dlc.matmul %x, %4 transpose_b {dlc.accuracy = "strict"} : (tensor<9x64xf32>, tensor<80x64xf32>) -> tensor<9x80xf32>
  return %y : tensor<9x80xf32>
}

// The same for weights with a scale and a zero point per column and a separate transposition.
// CHECK-LABEL: @columns
// CHECK-DAG: %[[Q:.*]] = dlc.constant dense<100> : tensor<64x128xui8>
// CHECK-DAG: %[[Z:.*]] = dlc.constant dense<120> : tensor<64x1xi32>
// CHECK: dlc.dequantize %[[Q]], %{{.*}}, %[[Z]]
// CHECK: dlc.matmul {{.*}} transpose_b {{.*}}tensor<64x128xf32>
func.func @columns(%x: tensor<1x128xf32>) -> tensor<1x64xf32> {
  %q = dlc.constant dense<100> : tensor<64x128xui8>
  %z = dlc.constant dense<120> : tensor<64x1xi32>
  %s = dlc.constant dense<0.5> : tensor<64x1xf32>
  %0 = dlc.cast %q to i32 : (tensor<64x128xui8>) -> tensor<64x128xi32>
  %1 = dlc.sub %0, %z : (tensor<64x128xi32>, tensor<64x1xi32>) -> tensor<64x128xi32>
  %2 = dlc.cast %1 to f32 : (tensor<64x128xi32>) -> tensor<64x128xf32>
  %3 = dlc.mul %2, %s : (tensor<64x128xf32>, tensor<64x1xf32>) -> tensor<64x128xf32>
  %w = dlc.transpose %3 [1, 0] : (tensor<64x128xf32>) -> tensor<128x64xf32>
  %y = dlc.matmul %x, %w : (tensor<1x128xf32>, tensor<128x64xf32>) -> tensor<1x64xf32>
  return %y : tensor<1x64xf32>
}

// Blocks as a separate dimension, with the subtraction in f32.
// CHECK-LABEL: @at_once
// CHECK: dlc.dequantize %{{.*}} : (tensor<64x128xi8>
// CHECK: dlc.matmul {{.*}}dlc.precision = "f32", dlc.quantized_weights
// GPU-LABEL: @at_once
// GPU-NOT: dlc.quantized_weights
// GPU: dlc.matmul
func.func @at_once(%x: tensor<16x128xf32>) -> tensor<16x64xf32> {
  %q = dlc.constant dense<3> : tensor<64x128xi8>
  %z = dlc.constant dense<0> : tensor<64x4x1xi8>
  %s = dlc.constant dense<0.5> : tensor<64x4x1xf32>
  %0 = dlc.reshape %q : (tensor<64x128xi8>) -> tensor<64x4x32xi8>
  %1 = dlc.cast %0 to f32 : (tensor<64x4x32xi8>) -> tensor<64x4x32xf32>
  %2 = dlc.cast %z to f32 : (tensor<64x4x1xi8>) -> tensor<64x4x1xf32>
  %3 = dlc.sub %1, %2 : (tensor<64x4x32xf32>, tensor<64x4x1xf32>) -> tensor<64x4x32xf32>
  %4 = dlc.mul %3, %s : (tensor<64x4x32xf32>, tensor<64x4x1xf32>) -> tensor<64x4x32xf32>
  %w = dlc.reshape %4 : (tensor<64x4x32xf32>) -> tensor<64x128xf32>
  %y = dlc.matmul %x, %w transpose_b : (tensor<16x128xf32>, tensor<64x128xf32>) -> tensor<16x64xf32>
  return %y : tensor<16x64xf32>
}

// Zero points that are not integers are not supported by the kernel.
// CHECK-LABEL: @halves
// CHECK-NOT: dlc.cast
// CHECK: dlc.matmul
func.func @halves(%x: tensor<16x128xf32>) -> tensor<16x16xf32> {
  %q = dlc.constant dense<3> : tensor<16x4x32xi8>
  %z = dlc.constant dense<0.5> : tensor<16x4x1xf32>
  %s = dlc.constant dense<0.5> : tensor<16x4x1xf32>
  %1 = dlc.cast %q to f32 : (tensor<16x4x32xi8>) -> tensor<16x4x32xf32>
  %3 = dlc.sub %1, %z : (tensor<16x4x32xf32>, tensor<16x4x1xf32>) -> tensor<16x4x32xf32>
  %4 = dlc.mul %3, %s : (tensor<16x4x32xf32>, tensor<16x4x1xf32>) -> tensor<16x4x32xf32>
  %w = dlc.reshape %4 : (tensor<16x4x32xf32>) -> tensor<16x128xf32>
  %y = dlc.matmul %x, %w transpose_b : (tensor<16x128xf32>, tensor<16x128xf32>) -> tensor<16x16xf32>
  return %y : tensor<16x16xf32>
}
