// RUN: dlc-opt %s --dlc-place --dlc-decompose --dlc-fuse --split-input-file | FileCheck %s

// Rows that are concatenated from parts and then reduced are computed first, since a kernel would have to select a part for each element.
// CHECK-LABEL: @rows
// CHECK: dlc.fusion
// CHECK-NEXT: dlc.concat 3
// CHECK-NEXT: dlc.yield
// CHECK: dlc.fusion
// CHECK-NOT: dlc.concat
func.func @rows(%a: tensor<1x8x512x32xf32>, %b: tensor<1x8x512x512xf32>) -> tensor<1x8x512x544xf32> {
  %0 = dlc.concat 3 (%a, %b) : (tensor<1x8x512x32xf32>, tensor<1x8x512x512xf32>) -> tensor<1x8x512x544xf32>
  %1 = dlc.softmax %0 {axis = 3 : i64} : (tensor<1x8x512x544xf32>) -> tensor<1x8x512x544xf32>
  return %1 : tensor<1x8x512x544xf32>
}

// -----

// A concatenation of rows is processed part by part.
// CHECK-LABEL: @columns
// CHECK-COUNT-1: dlc.fusion
// CHECK-NOT: dlc.fusion
func.func @columns(%a: tensor<1x8x32x544xf32>, %b: tensor<1x8x512x544xf32>) -> tensor<1x8x544x544xf32> {
  %0 = dlc.concat 2 (%a, %b) : (tensor<1x8x32x544xf32>, tensor<1x8x512x544xf32>) -> tensor<1x8x544x544xf32>
  %1 = dlc.softmax %0 {axis = 3 : i64} : (tensor<1x8x544x544xf32>) -> tensor<1x8x544x544xf32>
  return %1 : tensor<1x8x544x544xf32>
}
