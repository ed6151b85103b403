// Results of operations that move elements.
// Written by Inputs/literals.py.
// RUN: dlc-opt %s --dlc-evaluate | FileCheck %s

// CHECK-LABEL: @reshape()
// CHECK-NEXT: dense<{{\[\[}}0, 1], [2, 3], [4, 5]]> : tensor<3x2xi32>
func.func @reshape() -> (tensor<3x2xi32>) {
  %x = dlc.constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32>
  %y = dlc.reshape %x : (tensor<2x3xi32>) -> tensor<3x2xi32>
  return %y : tensor<3x2xi32>
}

// CHECK-LABEL: @transpose()
// CHECK-NEXT: dense<{{\[\[}}0, 3], [1, 4], [2, 5]]> : tensor<3x2xi32>
func.func @transpose() -> (tensor<3x2xi32>) {
  %x = dlc.constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32>
  %y = dlc.transpose %x [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
  return %y : tensor<3x2xi32>
}

// CHECK-LABEL: @transpose_3d()
// CHECK-NEXT: dense<{{\[\[\[}}0, 4, 8], [12, 16, 20]], {{\[\[}}1, 5, 9], [13, 17, 21]], {{\[\[}}2, 6, 10], [14, 18, 22]], {{\[\[}}3, 7, 11], [15, 19, 23]]]> : tensor<4x2x3xui8>
func.func @transpose_3d() -> (tensor<4x2x3xui8>) {
  %x = dlc.constant dense<[[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], [[12, 13, 14, 15], [16, 17, 18, 19], [20, 21, 22, 23]]]> : tensor<2x3x4xui8>
  %y = dlc.transpose %x [2, 0, 1] : (tensor<2x3x4xui8>) -> tensor<4x2x3xui8>
  return %y : tensor<4x2x3xui8>
}

// CHECK-LABEL: @broadcast()
// CHECK-NEXT: dense<{{\[\[\[}}0, 0, 0], [3, 3, 3]], {{\[\[}}0, 0, 0], [3, 3, 3]]]> : tensor<2x2x3xi32>
func.func @broadcast() -> (tensor<2x2x3xi32>) {
  %x = dlc.constant dense<[[0], [3]]> : tensor<2x1xi32>
  %y = dlc.broadcast %x : (tensor<2x1xi32>) -> tensor<2x2x3xi32>
  return %y : tensor<2x2x3xi32>
}

// CHECK-LABEL: @slice()
// CHECK-NEXT: dense<{{\[\[}}2, 0], [5, 3]]> : tensor<2x2xi32>
func.func @slice() -> (tensor<2x2xi32>) {
  %x = dlc.constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32>
  %y = dlc.slice %x start [0, 2] size [2, 2] stride [1, -2] : (tensor<2x3xi32>) -> tensor<2x2xi32>
  return %y : tensor<2x2xi32>
}

// CHECK-LABEL: @slice_3d()
// CHECK-NEXT: dense<{{\[\[\[}}13, 15], [21, 23]]]> : tensor<1x2x2xui8>
func.func @slice_3d() -> (tensor<1x2x2xui8>) {
  %x = dlc.constant dense<[[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], [[12, 13, 14, 15], [16, 17, 18, 19], [20, 21, 22, 23]]]> : tensor<2x3x4xui8>
  %y = dlc.slice %x start [1, 0, 1] size [1, 2, 2] stride [1, 2, 2] : (tensor<2x3x4xui8>) -> tensor<1x2x2xui8>
  return %y : tensor<1x2x2xui8>
}

// CHECK-LABEL: @slice_nothing()
// CHECK-NEXT: dense<> : tensor<0x3xi32>
func.func @slice_nothing() -> (tensor<0x3xi32>) {
  %x = dlc.constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32>
  %y = dlc.slice %x start [2, 0] size [0, 3] stride [1, 1] : (tensor<2x3xi32>) -> tensor<0x3xi32>
  return %y : tensor<0x3xi32>
}

// CHECK-LABEL: @pad_constant()
// CHECK-NEXT: dense<{{\[\[}}-1, -1, -1, -1, -1, -1], [-1, -1, 0, 1, 2, -1], [-1, -1, 3, 4, 5, -1]]> : tensor<3x6xi32>
func.func @pad_constant() -> (tensor<3x6xi32>) {
  %x = dlc.constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32>
  %v = dlc.constant dense<-1> : tensor<i32>
  %y = dlc.pad constant %x, %v low [1, 2] high [0, 1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<3x6xi32>
  return %y : tensor<3x6xi32>
}

// CHECK-LABEL: @pad_reflect()
// CHECK-NEXT: dense<{{\[\[}}5, 4, 3, 4, 5, 4], [2, 1, 0, 1, 2, 1], [5, 4, 3, 4, 5, 4]]> : tensor<3x6xi32>
func.func @pad_reflect() -> (tensor<3x6xi32>) {
  %x = dlc.constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32>
  %v = dlc.constant dense<-1> : tensor<i32>
  %y = dlc.pad reflect %x, %v low [1, 2] high [0, 1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<3x6xi32>
  return %y : tensor<3x6xi32>
}

// CHECK-LABEL: @pad_edge()
// CHECK-NEXT: dense<{{\[\[}}0, 0, 0, 1, 2, 2], [0, 0, 0, 1, 2, 2], [3, 3, 3, 4, 5, 5]]> : tensor<3x6xi32>
func.func @pad_edge() -> (tensor<3x6xi32>) {
  %x = dlc.constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32>
  %v = dlc.constant dense<-1> : tensor<i32>
  %y = dlc.pad edge %x, %v low [1, 2] high [0, 1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<3x6xi32>
  return %y : tensor<3x6xi32>
}

// CHECK-LABEL: @pad_wrap()
// CHECK-NEXT: dense<{{\[\[}}4, 5, 3, 4, 5, 3], [1, 2, 0, 1, 2, 0], [4, 5, 3, 4, 5, 3]]> : tensor<3x6xi32>
func.func @pad_wrap() -> (tensor<3x6xi32>) {
  %x = dlc.constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32>
  %v = dlc.constant dense<-1> : tensor<i32>
  %y = dlc.pad wrap %x, %v low [1, 2] high [0, 1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<3x6xi32>
  return %y : tensor<3x6xi32>
}

// CHECK-LABEL: @pad_removes()
// CHECK-NEXT: dense<{{\[\[}}-1, 3, 4], [-1, -1, -1]]> : tensor<2x3xi32>
func.func @pad_removes() -> (tensor<2x3xi32>) {
  %x = dlc.constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32>
  %v = dlc.constant dense<-1> : tensor<i32>
  %y = dlc.pad constant %x, %v low [-1, 1] high [1, -1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  return %y : tensor<2x3xi32>
}

// CHECK-LABEL: @concat()
// CHECK-NEXT: dense<{{\[\[}}0, 1, 2, 0], [3, 4, 5, 30]]> : tensor<2x4xi32>
func.func @concat() -> (tensor<2x4xi32>) {
  %x = dlc.constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32>
  %z = dlc.constant dense<[[0], [30]]> : tensor<2x1xi32>
  %y = dlc.concat 1 (%x, %z) : (tensor<2x3xi32>, tensor<2x1xi32>) -> tensor<2x4xi32>
  return %y : tensor<2x4xi32>
}

// CHECK-LABEL: @concat_outer()
// CHECK-NEXT: dense<{{\[\[}}0, 1, 2], [3, 4, 5], [10, 11, 12]]> : tensor<3x3xi32>
func.func @concat_outer() -> (tensor<3x3xi32>) {
  %x = dlc.constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32>
  %z = dlc.constant dense<[[10, 11, 12]]> : tensor<1x3xi32>
  %y = dlc.concat 0 (%x, %z) : (tensor<2x3xi32>, tensor<1x3xi32>) -> tensor<3x3xi32>
  return %y : tensor<3x3xi32>
}

// CHECK-LABEL: @transpose_bool()
// CHECK-NEXT: dense<{{\[\[}}true], [false], [true]]> : tensor<3x1xi1>
func.func @transpose_bool() -> (tensor<3x1xi1>) {
  %x = dlc.constant dense<[[true, false, true]]> : tensor<1x3xi1>
  %y = dlc.transpose %x [1, 0] : (tensor<1x3xi1>) -> tensor<3x1xi1>
  return %y : tensor<3x1xi1>
}

// CHECK-LABEL: @constant_empty()
// CHECK-NEXT: dense<> : tensor<0xi64>
func.func @constant_empty() -> (tensor<0xi64>) {
  %x = dlc.constant dense<> : tensor<0xi64>
  %z = dlc.constant dense<> : tensor<0xi64>
  %y = dlc.concat 0 (%x, %z) : (tensor<0xi64>, tensor<0xi64>) -> tensor<0xi64>
  return %y : tensor<0xi64>
}

// CHECK-LABEL: @iota()
// CHECK-NEXT: dense<{{\[\[}}0, 1, 2], [0, 1, 2]]> : tensor<2x3xi64>
// CHECK-NEXT: dense<{{\[\[}}0.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e+00]]> : tensor<2x2xf16>
func.func @iota() -> (tensor<2x3xi64>, tensor<2x2xf16>) {
  %0 = dlc.iota 1 : tensor<2x3xi64>
  %1 = dlc.iota 0 : tensor<2x2xf16>
  return %0, %1 : tensor<2x3xi64>, tensor<2x2xf16>
}

// Splats, packed bools and resources are read in the same way; the result type becomes static.
// CHECK-LABEL: @constants() -> (tensor<2x2xf32>, tensor<9xi1>, tensor<2xi32>, tensor<3xi1>)
// CHECK-NEXT: dense<2.500000e+00> : tensor<2x2xf32>
// CHECK-NEXT: dense<[true, false, true, true, false, false, true, false, true]> : tensor<9xi1>
// CHECK-NEXT: dense<[258, -1]> : tensor<2xi32>
// CHECK-NEXT: dense<[true, false, true]> : tensor<3xi1>
func.func @constants() -> (tensor<2x2xf32>, tensor<9xi1>, tensor<2xi32>, tensor<3xi1>) {
  %0 = dlc.constant dense<2.5> : tensor<2x2xf32>
  %1 = dlc.constant dense<[true, false, true, true, false, false, true, false, true]> : tensor<9xi1>
  %2 = dlc.constant dense_resource<two> : tensor<2xi32>
  %3 = dlc.constant dense_resource<flags> : tensor<3xi1>
  return %0, %1, %2, %3 : tensor<2x2xf32>, tensor<9xi1>, tensor<2xi32>, tensor<3xi1>
}

{-#
  dialect_resources: {
    builtin: {
      two: "0x0400000002010000FFFFFFFF",
      flags: "0x01000000010001"
    }
  }
#-}
