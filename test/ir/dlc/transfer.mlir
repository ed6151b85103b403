// Devices, layouts and random numbers: text and accepted types.
// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-opt %s --mlir-print-op-generic | dlc-opt | FileCheck %s

// CHECK-LABEL: func @transfer
func.func @transfer(%x: tensor<4x16xf32, #dlc.on<cpu>>, %y: tensor<4x16xf32, #dlc.on<cuda:1, aB8b>>) {
  // CHECK: dlc.transfer %{{.*}} : (tensor<4x16xf32, #dlc.on<cpu>>) -> tensor<4x16xf32, #dlc.on<cuda:0>>
  %0 = dlc.transfer %x : (tensor<4x16xf32, #dlc.on<cpu>>) -> tensor<4x16xf32, #dlc.on<cuda:0>>
  // CHECK: dlc.transfer %{{.*}} : (tensor<4x16xf32, #dlc.on<cuda:1, aB8b>>) -> tensor<4x16xf32, #dlc.on<cpu:1>>
  %1 = dlc.transfer %y : (tensor<4x16xf32, #dlc.on<cuda:1, aB8b>>) -> tensor<4x16xf32, #dlc.on<cpu:1>>
  return
}

// CHECK-LABEL: func @reorder
func.func @reorder(%x: tensor<4x16x7x7xf32, #dlc.on<cpu>>) {
  // CHECK: dlc.reorder %{{.*}} : (tensor<4x16x7x7xf32, #dlc.on<cpu>>) -> tensor<4x16x7x7xf32, #dlc.on<cpu, aBcd16b>>
  %0 = dlc.reorder %x : (tensor<4x16x7x7xf32, #dlc.on<cpu>>) -> tensor<4x16x7x7xf32, #dlc.on<cpu, aBcd16b>>
  // CHECK: dlc.reorder %{{.*}} : (tensor<4x16x7x7xf32, #dlc.on<cpu>>) -> tensor<4x16x7x7xf32, #dlc.on<cpu, acdb>>
  %1 = dlc.reorder %x : (tensor<4x16x7x7xf32, #dlc.on<cpu>>) -> tensor<4x16x7x7xf32, #dlc.on<cpu, acdb>>
  // CHECK: dlc.reorder %{{.*}} : (tensor<4x16x7x7xf32, #dlc.on<cpu>>) -> tensor<4x16x7x7xf32, #dlc.on<cpu, ABcd4b16a4b>>
  %2 = dlc.reorder %x : (tensor<4x16x7x7xf32, #dlc.on<cpu>>) -> tensor<4x16x7x7xf32, #dlc.on<cpu, ABcd4b16a4b>>
  return
}

// CHECK-LABEL: func @random
func.func @random(%c: tensor<i64>) {
  // CHECK: dlc.random uniform %{{.*}} seed 7 : (tensor<i64>) -> tensor<2x3xf32>
  %0 = dlc.random uniform %c seed 7 : (tensor<i64>) -> tensor<2x3xf32>
  // CHECK: dlc.random normal %{{.*}} seed -1 : (tensor<i64>) -> tensor<?xbf16>
  %1 = dlc.random normal %c seed -1 : (tensor<i64>) -> tensor<?xbf16>
  return
}
