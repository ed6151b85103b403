// Reductions: text and accepted types.
// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-opt %s --mlir-print-op-generic | dlc-opt | FileCheck %s

// CHECK-LABEL: func @reduce
func.func @reduce(%x: tensor<2x?x4xf32>, %i: tensor<3x4xi32>) {
  // CHECK: dlc.reduce sum %{{.*}} axes [0, 2] : (tensor<2x?x4xf32>) -> tensor<?xf32>
  %0 = dlc.reduce sum %x axes [0, 2] : (tensor<2x?x4xf32>) -> tensor<?xf32>
  // CHECK: dlc.reduce mean %{{.*}} axes [1] keepdims : (tensor<2x?x4xf32>) -> tensor<2x1x4xf32>
  %1 = dlc.reduce mean %x axes [1] keepdims : (tensor<2x?x4xf32>) -> tensor<2x1x4xf32>
  // CHECK: dlc.reduce max %{{.*}} axes [0, 1] : (tensor<3x4xi32>) -> tensor<i32>
  %2 = dlc.reduce max %i axes [0, 1] : (tensor<3x4xi32>) -> tensor<i32>
  // CHECK: dlc.reduce min %{{.*}} axes [1] : (tensor<3x4xi32>) -> tensor<3xi32>
  %3 = dlc.reduce min %i axes [1] : (tensor<3x4xi32>) -> tensor<3xi32>
  // CHECK: dlc.reduce prod %{{.*}} axes [1] : (tensor<3x4xi32>) -> tensor<3xi32>
  %4 = dlc.reduce prod %i axes [1] : (tensor<3x4xi32>) -> tensor<3xi32>
  return
}

// CHECK-LABEL: func @arg_reduce
func.func @arg_reduce(%x: tensor<2x3x4xf32>) {
  // CHECK: dlc.arg_reduce max %{{.*}} axis 1 : (tensor<2x3x4xf32>) -> tensor<2x4xi64>
  %0 = dlc.arg_reduce max %x axis 1 : (tensor<2x3x4xf32>) -> tensor<2x4xi64>
  // CHECK: dlc.arg_reduce min %{{.*}} axis 2 keepdims last : (tensor<2x3x4xf32>) -> tensor<2x3x1xi64>
  %1 = dlc.arg_reduce min %x axis 2 keepdims last : (tensor<2x3x4xf32>) -> tensor<2x3x1xi64>
  return
}

// CHECK-LABEL: func @cumulative
func.func @cumulative(%x: tensor<2x3xf32>) {
  // CHECK: dlc.cumulative sum %{{.*}} axis 1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = dlc.cumulative sum %x axis 1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: dlc.cumulative prod %{{.*}} axis 0 exclusive reverse : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = dlc.cumulative prod %x axis 0 exclusive reverse : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func @topk
func.func @topk(%x: tensor<2x8xf32>) {
  // CHECK: dlc.topk %{{.*}} {axis = 1 : i64, k = 3 : i64} : (tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  %0:2 = dlc.topk %x {axis = 1 : i64, k = 3 : i64} : (tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  // CHECK: dlc.topk %{{.*}} {axis = 0 : i64, k = 0 : i64, largest = false} : (tensor<2x8xf32>) -> (tensor<0x8xf32>, tensor<0x8xi64>)
  %1:2 = dlc.topk %x {axis = 0 : i64, k = 0 : i64, largest = false} : (tensor<2x8xf32>) -> (tensor<0x8xf32>, tensor<0x8xi64>)
  return
}

// CHECK-LABEL: func @nms
func.func @nms(%boxes: tensor<2x9x4xf16>, %scores: tensor<2x3x9xf16>, %there: tensor<2x3x9xi1>, %overlap: tensor<f32>) {
  // CHECK: dlc.nms %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {k = 5 : i64} : (tensor<2x9x4xf16>, tensor<2x3x9xf16>, tensor<2x3x9xi1>, tensor<f32>) -> (tensor<2x3x5xi64>, tensor<2x3xi64>)
  %0:2 = dlc.nms %boxes, %scores, %there, %overlap {k = 5 : i64} : (tensor<2x9x4xf16>, tensor<2x3x9xf16>, tensor<2x3x9xi1>, tensor<f32>) -> (tensor<2x3x5xi64>, tensor<2x3xi64>)
  return
}
