// RUN: dlc-opt %s -dlc-tables | FileCheck %s

// Doubling a value and requantizing it becomes a lookup table, with all operations between.
// CHECK-LABEL: @chain
// CHECK-NOT: dlc.cast
// CHECK: %[[Y:.*]] = dlc.lookup %arg0 in dense<"0x00020406080A0C0E
// CHECK-NEXT: return %[[Y]]
func.func @chain(%x: tensor<3x40xui8>) -> tensor<3x40xui8> {
  %scale = dlc.constant dense<0.5> : tensor<f32>
  %two = dlc.constant dense<2.0> : tensor<1x1xf32>
  %low = dlc.constant dense<0.0> : tensor<f32>
  %high = dlc.constant dense<255.0> : tensor<f32>
  %0 = dlc.cast %x to f32 : (tensor<3x40xui8>) -> tensor<3x40xf32>
  %1 = dlc.mul %0, %scale : (tensor<3x40xf32>, tensor<f32>) -> tensor<3x40xf32>
  %2 = dlc.div %1, %scale : (tensor<3x40xf32>, tensor<f32>) -> tensor<3x40xf32>
  %3 = dlc.round %2 : (tensor<3x40xf32>) -> tensor<3x40xf32>
  %4 = dlc.max %3, %low : (tensor<3x40xf32>, tensor<f32>) -> tensor<3x40xf32>
  %5 = dlc.min %4, %high : (tensor<3x40xf32>, tensor<f32>) -> tensor<3x40xf32>
  %6 = dlc.cast %5 to ui8 : (tensor<3x40xf32>) -> tensor<3x40xui8>
  %7 = dlc.cast %6 to f32 : (tensor<3x40xui8>) -> tensor<3x40xf32>
  %8 = dlc.mul %7, %two : (tensor<3x40xf32>, tensor<1x1xf32>) -> tensor<3x40xf32>
  %9 = dlc.min %8, %high : (tensor<3x40xf32>, tensor<f32>) -> tensor<3x40xf32>
  %y = dlc.cast %9 to ui8 : (tensor<3x40xf32>) -> tensor<3x40xui8>
  return %y : tensor<3x40xui8>
}

// x * sigmoid(x): both factors depend on one value. Values with other readers remain.
// CHECK-LABEL: @joined
// CHECK: %[[S:.*]] = dlc.sigmoid
// CHECK: %[[Y:.*]] = dlc.lookup %arg0 in
// CHECK: return %[[Y]], %[[S]]
func.func @joined(%x: tensor<8xi8>) -> (tensor<8xi8>, tensor<8xf32>) {
  %0 = dlc.cast %x to f32 : (tensor<8xi8>) -> tensor<8xf32>
  %s = dlc.sigmoid %0 : (tensor<8xf32>) -> tensor<8xf32>
  %1 = dlc.mul %0, %s : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = dlc.round %1 : (tensor<8xf32>) -> tensor<8xf32>
  %y = dlc.cast %2 to i8 : (tensor<8xf32>) -> tensor<8xi8>
  return %y, %s : tensor<8xi8>, tensor<8xf32>
}

// Functions of two values, per-channel scales, broadcast values and operations as cheap as a lookup do not become tables.
// CHECK-LABEL: @others
// CHECK-NOT: dlc.lookup
func.func @others(%a: tensor<4xui8>, %b: tensor<4xui8>, %c: tensor<1xui8>) -> (tensor<4xui8>, tensor<4xui8>, tensor<4xui8>, tensor<4xui8>) {
  %scales = dlc.constant dense<[0.5, 0.25, 0.125, 2.0]> : tensor<4xf32>
  %ones = dlc.constant dense<0.0> : tensor<4xf32>
  %fa = dlc.cast %a to f32 : (tensor<4xui8>) -> tensor<4xf32>
  %fb = dlc.cast %b to f32 : (tensor<4xui8>) -> tensor<4xf32>
  %fc = dlc.cast %c to f32 : (tensor<1xui8>) -> tensor<1xf32>
  %0 = dlc.sigmoid %fa : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dlc.mul %0, %fb : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y0 = dlc.cast %1 to ui8 : (tensor<4xf32>) -> tensor<4xui8>
  %2 = dlc.mul %0, %scales : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y1 = dlc.cast %2 to ui8 : (tensor<4xf32>) -> tensor<4xui8>
  %3 = dlc.exp %fc : (tensor<1xf32>) -> tensor<1xf32>
  %4 = dlc.add %3, %ones : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y2 = dlc.cast %4 to ui8 : (tensor<4xf32>) -> tensor<4xui8>
  %two = dlc.constant dense<2> : tensor<ui8>
  %y3 = dlc.max %a, %two : (tensor<4xui8>, tensor<ui8>) -> tensor<4xui8>
  return %y0, %y1, %y2, %y3 : tensor<4xui8>, tensor<4xui8>, tensor<4xui8>, tensor<4xui8>
}

// Data movement and maxima operate on 8-bit values; a slice with unchanged scale needs no table.
// CHECK-LABEL: @moved
// CHECK: %[[B:.*]] = dlc.lookup %arg1 in
// CHECK: %[[C:.*]] = dlc.concat 1(%arg0, %[[B]]) : (tensor<1x2x4x4xui8>, tensor<1x3x4x4xui8>) -> tensor<1x5x4x4xui8>
// CHECK: %[[P:.*]] = dlc.max_pool %[[C]]
// CHECK: %[[T:.*]] = dlc.transpose %[[P]]
// CHECK: return %[[T]]
func.func @moved(%a: tensor<1x2x4x4xui8>, %b: tensor<1x3x4x4xi8>) -> tensor<1x2x2x5xui8> {
  %sa = dlc.constant dense<0.5> : tensor<f32>
  %sb = dlc.constant dense<0.125> : tensor<f32>
  %low = dlc.constant dense<0.0> : tensor<f32>
  %high = dlc.constant dense<255.0> : tensor<f32>
  %0 = dlc.cast %a to f32 : (tensor<1x2x4x4xui8>) -> tensor<1x2x4x4xf32>
  %1 = dlc.mul %0, %sa : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %2 = dlc.cast %b to f32 : (tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xf32>
  %3 = dlc.mul %2, %sb : (tensor<1x3x4x4xf32>, tensor<f32>) -> tensor<1x3x4x4xf32>
  %4 = dlc.concat 1(%1, %3) : (tensor<1x2x4x4xf32>, tensor<1x3x4x4xf32>) -> tensor<1x5x4x4xf32>
  %5 = dlc.max_pool %4 {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<1x5x4x4xf32>) -> tensor<1x5x2x2xf32>
  %6 = dlc.div %5, %sa : (tensor<1x5x2x2xf32>, tensor<f32>) -> tensor<1x5x2x2xf32>
  %7 = dlc.round %6 : (tensor<1x5x2x2xf32>) -> tensor<1x5x2x2xf32>
  %8 = dlc.max %7, %low : (tensor<1x5x2x2xf32>, tensor<f32>) -> tensor<1x5x2x2xf32>
  %9 = dlc.min %8, %high : (tensor<1x5x2x2xf32>, tensor<f32>) -> tensor<1x5x2x2xf32>
  %10 = dlc.transpose %9 [0, 2, 3, 1] : (tensor<1x5x2x2xf32>) -> tensor<1x2x2x5xf32>
  %y = dlc.cast %10 to ui8 : (tensor<1x2x2x5xf32>) -> tensor<1x2x2x5xui8>
  return %y : tensor<1x2x2x5xui8>
}

// The same for gathers, even with repeated elements.
// CHECK-LABEL: @places
// CHECK: %[[T:.*]] = dlc.lookup %arg0 in
// CHECK: %[[G:.*]] = dlc.gather 2 %[[T]], %arg1 : (tensor<1x2x4x4xui8>, tensor<8xi64>) -> tensor<1x2x8x4xui8>
// CHECK: return %[[G]]
func.func @places(%a: tensor<1x2x4x4xui8>, %p: tensor<8xi64>) -> tensor<1x2x8x4xui8> {
  %sa = dlc.constant dense<0.5> : tensor<f32>
  %sb = dlc.constant dense<0.125> : tensor<f32>
  %low = dlc.constant dense<0.0> : tensor<f32>
  %high = dlc.constant dense<255.0> : tensor<f32>
  %0 = dlc.cast %a to f32 : (tensor<1x2x4x4xui8>) -> tensor<1x2x4x4xf32>
  %1 = dlc.mul %0, %sa : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %2 = dlc.gather 2 %1, %p : (tensor<1x2x4x4xf32>, tensor<8xi64>) -> tensor<1x2x8x4xf32>
  %3 = dlc.div %2, %sb : (tensor<1x2x8x4xf32>, tensor<f32>) -> tensor<1x2x8x4xf32>
  %4 = dlc.round %3 : (tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32>
  %5 = dlc.max %4, %low : (tensor<1x2x8x4xf32>, tensor<f32>) -> tensor<1x2x8x4xf32>
  %6 = dlc.min %5, %high : (tensor<1x2x8x4xf32>, tensor<f32>) -> tensor<1x2x8x4xf32>
  %y = dlc.cast %6 to ui8 : (tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xui8>
  return %y : tensor<1x2x8x4xui8>
}

// A decreasing function would turn maxima into minima, and windows that contain only padding have no element: both pools remain.
// CHECK-LABEL: @kept
// CHECK: dlc.max_pool {{.*}} -> tensor<1x2x2x2xf32>
// CHECK: dlc.max_pool {{.*}} -> tensor<1x2x5x5xf32>
func.func @kept(%a: tensor<1x2x4x4xui8>) -> (tensor<1x2x2x2xui8>, tensor<1x2x5x5xui8>) {
  %minus = dlc.constant dense<-0.5> : tensor<f32>
  %half = dlc.constant dense<0.5> : tensor<f32>
  %0 = dlc.cast %a to f32 : (tensor<1x2x4x4xui8>) -> tensor<1x2x4x4xf32>
  %1 = dlc.mul %0, %minus : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %2 = dlc.max_pool %1 {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %3 = dlc.div %2, %minus : (tensor<1x2x2x2xf32>, tensor<f32>) -> tensor<1x2x2x2xf32>
  %y0 = dlc.cast %3 to ui8 : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xui8>
  %4 = dlc.mul %0, %half : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %5 = dlc.max_pool %4 {window = array<i64: 1, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 0, 0>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x5x5xf32>
  %6 = dlc.div %5, %half : (tensor<1x2x5x5xf32>, tensor<f32>) -> tensor<1x2x5x5xf32>
  %y1 = dlc.cast %6 to ui8 : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xui8>
  return %y0, %y1 : tensor<1x2x2x2xui8>, tensor<1x2x5x5xui8>
}

// Readers with different scales share one max pool: their tables follow it.
// CHECK-LABEL: @once
// CHECK: %[[P:.*]] = dlc.max_pool %arg0 {{.*}} -> tensor<1x2x3x3xui8>
// CHECK-NOT: dlc.max_pool
// CHECK-DAG: dlc.lookup %[[P]] in
// CHECK-DAG: dlc.transpose %[[P]]
// CHECK: return
func.func @once(%a: tensor<1x2x4x4xui8>) -> (tensor<1x2x3x3xui8>, tensor<1x3x3x2xui8>) {
  %sa = dlc.constant dense<0.5> : tensor<f32>
  %sb = dlc.constant dense<0.125> : tensor<f32>
  %low = dlc.constant dense<0.0> : tensor<f32>
  %high = dlc.constant dense<255.0> : tensor<f32>
  %0 = dlc.cast %a to f32 : (tensor<1x2x4x4xui8>) -> tensor<1x2x4x4xf32>
  %1 = dlc.mul %0, %sa : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %2 = dlc.max_pool %1 {window = array<i64: 2, 2>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x3x3xf32>
  %3 = dlc.div %2, %sb : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  %4 = dlc.round %3 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %5 = dlc.max %4, %low : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  %6 = dlc.min %5, %high : (tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  %y0 = dlc.cast %6 to ui8 : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xui8>
  %7 = dlc.max_pool %1 {window = array<i64: 2, 2>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x3x3xf32>
  %8 = dlc.transpose %7 [0, 2, 3, 1] : (tensor<1x2x3x3xf32>) -> tensor<1x3x3x2xf32>
  %9 = dlc.div %8, %sa : (tensor<1x3x3x2xf32>, tensor<f32>) -> tensor<1x3x3x2xf32>
  %10 = dlc.round %9 : (tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32>
  %11 = dlc.max %10, %low : (tensor<1x3x3x2xf32>, tensor<f32>) -> tensor<1x3x3x2xf32>
  %12 = dlc.min %11, %high : (tensor<1x3x3x2xf32>, tensor<f32>) -> tensor<1x3x3x2xf32>
  %y1 = dlc.cast %12 to ui8 : (tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xui8>
  return %y0, %y1 : tensor<1x2x3x3xui8>, tensor<1x3x3x2xui8>
}
