// Each kernel is on one device. Operations that do not depend on a transfer are not fused with operations that wait for it.
// RUN: dlc-opt %s --dlc-fuse --dlc-verify-placement --split-input-file | FileCheck %s

// With fusion, the matmul would wait for the other device's result: the subtraction is a
// separate kernel.
// CHECK-LABEL: func.func @products
func.func @products(%a: tensor<64x64xf32, #dlc.on<cpu>>, %b: tensor<64x64xf32, #dlc.on<cpu:1>>) -> tensor<64x64xf32, #dlc.on<cpu>> {
  // CHECK: dlc.fusion
  // CHECK-NEXT: dlc.matmul
  // CHECK-NEXT: dlc.yield
  %0 = dlc.matmul %a, %a : (tensor<64x64xf32, #dlc.on<cpu>>, tensor<64x64xf32, #dlc.on<cpu>>) -> tensor<64x64xf32, #dlc.on<cpu>>
  // CHECK: dlc.fusion
  // CHECK-NEXT: dlc.matmul
  // CHECK-NEXT: dlc.yield
  %1 = dlc.matmul %b, %b : (tensor<64x64xf32, #dlc.on<cpu:1>>, tensor<64x64xf32, #dlc.on<cpu:1>>) -> tensor<64x64xf32, #dlc.on<cpu:1>>
  // CHECK: dlc.transfer
  %2 = dlc.transfer %1 : (tensor<64x64xf32, #dlc.on<cpu:1>>) -> tensor<64x64xf32, #dlc.on<cpu>>
  // CHECK: dlc.fusion
  // CHECK-NEXT: dlc.sub
  // CHECK-NEXT: dlc.relu
  // CHECK-NEXT: dlc.yield
  %3 = dlc.sub %0, %2 : (tensor<64x64xf32, #dlc.on<cpu>>, tensor<64x64xf32, #dlc.on<cpu>>) -> tensor<64x64xf32, #dlc.on<cpu>>
  %4 = dlc.relu %3 : (tensor<64x64xf32, #dlc.on<cpu>>) -> tensor<64x64xf32, #dlc.on<cpu>>
  return %4 : tensor<64x64xf32, #dlc.on<cpu>>
}

// -----

// Transfers of inputs start immediately, and a transfer on which both operands depend does not prevent fusion.
// CHECK-LABEL: func.func @inputs
func.func @inputs(%a: tensor<64x64xf32, #dlc.on<cpu:1>>, %b: tensor<64x64xf32, #dlc.on<cpu>>) -> tensor<64x64xf32, #dlc.on<cpu>> {
  // CHECK: dlc.transfer
  // CHECK: dlc.fusion
  // CHECK-NEXT: dlc.matmul
  // CHECK-NEXT: dlc.add
  // CHECK-NOT: dlc.fusion
  %0 = dlc.transfer %a : (tensor<64x64xf32, #dlc.on<cpu:1>>) -> tensor<64x64xf32, #dlc.on<cpu>>
  %1 = dlc.matmul %b, %b : (tensor<64x64xf32, #dlc.on<cpu>>, tensor<64x64xf32, #dlc.on<cpu>>) -> tensor<64x64xf32, #dlc.on<cpu>>
  %2 = dlc.add %1, %0 : (tensor<64x64xf32, #dlc.on<cpu>>, tensor<64x64xf32, #dlc.on<cpu>>) -> tensor<64x64xf32, #dlc.on<cpu>>
  return %2 : tensor<64x64xf32, #dlc.on<cpu>>
}

// -----

// Small operations may wait.
// CHECK-LABEL: func.func @little
func.func @little(%a: tensor<8xf32, #dlc.on<cpu>>, %b: tensor<8xf32, #dlc.on<cpu:1>>) -> tensor<8xf32, #dlc.on<cpu>> {
  // CHECK: dlc.transfer
  // CHECK: dlc.fusion
  // CHECK-NEXT: dlc.neg
  // CHECK-NEXT: dlc.sub
  %0 = dlc.neg %a : (tensor<8xf32, #dlc.on<cpu>>) -> tensor<8xf32, #dlc.on<cpu>>
  %1 = dlc.neg %b : (tensor<8xf32, #dlc.on<cpu:1>>) -> tensor<8xf32, #dlc.on<cpu:1>>
  %2 = dlc.transfer %1 : (tensor<8xf32, #dlc.on<cpu:1>>) -> tensor<8xf32, #dlc.on<cpu>>
  %3 = dlc.sub %0, %2 : (tensor<8xf32, #dlc.on<cpu>>, tensor<8xf32, #dlc.on<cpu>>) -> tensor<8xf32, #dlc.on<cpu>>
  return %3 : tensor<8xf32, #dlc.on<cpu>>
}
