// REQUIRES: fma
// RUN: dlc-opt %s -dlc-place -dlc-decompose -dlc-fuse -dlc-select='threads=1' -dlc-lower='threads=1 vector-bits=256' -dlc-emit-kernels='vector-bits=256' -cse --split-input-file | FileCheck %s

// Rotated pairs (rotary embedding): each part is computed in separate vectors, and the two are interleaved.
// CHECK-LABEL: llvm.func @k0
// CHECK-NOT: masked.gather
// CHECK: vector.interleave
// CHECK-NOT: masked.gather
// CHECK: llvm.return
func.func @main(%x: tensor<64x32x2xf32>, %c: tensor<64xf32>) -> tensor<64x64xf32> {
  %a = dlc.slice %x start [0, 0, 0] size [64, 32, 1] stride [1, 1, 1] : (tensor<64x32x2xf32>) -> tensor<64x32x1xf32>
  %b = dlc.slice %x start [0, 0, 1] size [64, 32, 1] stride [1, 1, 1] : (tensor<64x32x2xf32>) -> tensor<64x32x1xf32>
  %n = dlc.neg %b : (tensor<64x32x1xf32>) -> tensor<64x32x1xf32>
  %s = dlc.concat 2 (%n, %a) : (tensor<64x32x1xf32>, tensor<64x32x1xf32>) -> tensor<64x32x2xf32>
  %j = dlc.reshape %s : (tensor<64x32x2xf32>) -> tensor<64x64xf32>
  %y = dlc.mul %j, %c : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// -----

// The same as a result of the fusion.
// CHECK-LABEL: llvm.func @k0
// CHECK: vector.interleave
// CHECK: llvm.return
func.func @main(%a: tensor<64x32x1xf32>, %b: tensor<64x32x1xf32>) -> tensor<64x64xf32> {
  %n = dlc.neg %b : (tensor<64x32x1xf32>) -> tensor<64x32x1xf32>
  %s = dlc.concat 2 (%n, %a) : (tensor<64x32x1xf32>, tensor<64x32x1xf32>) -> tensor<64x32x2xf32>
  %j = dlc.reshape %s : (tensor<64x32x2xf32>) -> tensor<64x64xf32>
  return %j : tensor<64x64xf32>
}

// -----

// Elements that groups of lanes share are loaded once and repeated by a shuffle.
// CHECK-LABEL: llvm.func @k0
// CHECK-NOT: masked.gather
// CHECK: vector.shuffle {{.*}} [0, 0, 1, 1, 2, 2, 3, 3
// CHECK-NOT: masked.gather
// CHECK: llvm.return
func.func @main(%x: tensor<64x64xf32>, %c: tensor<64x32x1xf32>) -> tensor<64x64xf32> {
  %e = dlc.broadcast %c : (tensor<64x32x1xf32>) -> tensor<64x32x2xf32>
  %j = dlc.reshape %e : (tensor<64x32x2xf32>) -> tensor<64x64xf32>
  %y = dlc.mul %j, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
