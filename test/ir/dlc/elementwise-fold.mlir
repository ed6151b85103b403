// Folders of elementwise operations: identities that hold for every value.
// RUN: dlc-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func @identities
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[I:.*]]: tensor<4xi32>)
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[I]], %[[I]]
func.func @identities(%x: tensor<4xf32>, %i: tensor<4xi32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>) {
  %one = dlc.constant dense<1.0> : tensor<f32>
  %zero = dlc.constant dense<0.0> : tensor<1xf32>
  %minus = dlc.constant dense<-0.0> : tensor<4xf32>
  %izero = dlc.constant dense<0> : tensor<i32>
  %0 = dlc.mul %x, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = dlc.mul %one, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = dlc.div %x, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = dlc.sub %x, %zero : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %4 = dlc.add %x, %minus : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = dlc.add %i, %izero : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %6 = dlc.sub %i, %izero : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>
}

// -0.0 + 0.0 is 0.0, and so is -0.0 - -0.0: these are not folded.
// CHECK-LABEL: func @signed_zero
// CHECK: dlc.add
// CHECK: dlc.sub
func.func @signed_zero(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = dlc.constant dense<0.0> : tensor<f32>
  %minus = dlc.constant dense<-0.0> : tensor<f32>
  %0 = dlc.add %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = dlc.sub %x, %minus : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// The result is larger than x: this is not folded.
// CHECK-LABEL: func @stretching
// CHECK: dlc.mul
func.func @stretching(%x: tensor<1xf32>) -> tensor<4xf32> {
  %one = dlc.constant dense<1.0> : tensor<4xf32>
  %0 = dlc.mul %x, %one : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @casts
// CHECK-SAME: (%[[X:.*]]: tensor<4xbf16>, %[[F:.*]]: tensor<4xf32>, %[[I:.*]]: tensor<4xi8>)
func.func @casts(%x: tensor<4xbf16>, %f: tensor<4xf32>, %i: tensor<4xi8>)
    -> (tensor<4xbf16>, tensor<4xf16>, tensor<4xf32>, tensor<4xui8>, tensor<4xi8>) {
  // Casts to a wider type and back are lossless.
  %0 = dlc.cast %x to f32 : (tensor<4xbf16>) -> tensor<4xf32>
  %1 = dlc.cast %0 to bf16 : (tensor<4xf32>) -> tensor<4xbf16>
  // The first cast is lossless.
  // CHECK-DAG: %[[A:.*]] = dlc.cast %[[X]] to f16 : (tensor<4xbf16>) -> tensor<4xf16>
  %2 = dlc.cast %0 to f16 : (tensor<4xf32>) -> tensor<4xf16>
  // The first cast rounds: both remain.
  // CHECK-DAG: %[[B:.*]] = dlc.cast %[[F]] to bf16
  // CHECK-DAG: %[[C:.*]] = dlc.cast %[[B]] to f32
  %3 = dlc.cast %f to bf16 : (tensor<4xf32>) -> tensor<4xbf16>
  %4 = dlc.cast %3 to f32 : (tensor<4xbf16>) -> tensor<4xf32>
  // CHECK-DAG: %[[D:.*]] = dlc.cast %[[I]] to ui8 : (tensor<4xi8>) -> tensor<4xui8>
  %5 = dlc.cast %i to i32 : (tensor<4xi8>) -> tensor<4xi32>
  %6 = dlc.cast %5 to ui8 : (tensor<4xi32>) -> tensor<4xui8>
  // CHECK: return %[[X]], %[[A]], %[[C]], %[[D]], %[[I]]
  %7 = dlc.cast %i to i8 : (tensor<4xi8>) -> tensor<4xi8>
  return %1, %2, %4, %6, %7 : tensor<4xbf16>, tensor<4xf16>, tensor<4xf32>, tensor<4xui8>, tensor<4xi8>
}
