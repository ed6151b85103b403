// RUN: dlc-opt %s -split-input-file -dlc-place -dlc-decompose -dlc-fuse -dlc-select -dlc-lower='vector-bits=512' -dlc-emit-kernels='vector-bits=512' -cse | FileCheck %s

// Light work is done two registers at a time, and the tail is a vector of what remains; nothing is masked.
// CHECK-LABEL: llvm.func @k0_add
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> vector<32xf32>
// CHECK: arith.addf {{.*}} : vector<32xf32>
// CHECK: llvm.store {{.*}} : vector<32xf32>
// CHECK: llvm.load {{.*}} -> vector<5xf32>
// CHECK-NOT: masked
func.func @main(%x: tensor<197xf32>, %y: tensor<197xf32>) -> tensor<197xf32> {
  %z = dlc.add %x, %y : (tensor<197xf32>, tensor<197xf32>) -> tensor<197xf32>
  return %z : tensor<197xf32>
}

// -----

// Dimensions that all operands treat alike are one.
// CHECK-LABEL: llvm.func @k0_relu
// CHECK-COUNT-1: scf.for
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK-NOT: arith.remui
// CHECK: llvm.return
func.func @main(%x: tensor<8x16x32xf32>) -> tensor<8x16x32xf32> {
  %z = dlc.relu %x : (tensor<8x16x32xf32>) -> tensor<8x16x32xf32>
  return %z : tensor<8x16x32xf32>
}

// -----

// The row's statistics are taken before its loop, with four registers of partial sums.
// CHECK-LABEL: llvm.func @k0_reduce
// CHECK: iter_args({{.*}}) -> (vector<64xf32>)
// CHECK: vector.reduction <maximumf>
// CHECK: iter_args({{.*}}) -> (vector<64xf32>)
// CHECK: vector.reduction <add>
// CHECK: scf.for
// CHECK: llvm.store {{.*}} : vector<16xf32>
func.func @main(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %y = dlc.softmax %x {axis = 1 : i64} : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  return %y : tensor<64x1024xf32>
}

// -----

// A reduction over rows keeps its lanes along the columns.
// CHECK-LABEL: llvm.func @k0_reduce
// CHECK: iter_args({{.*}}) -> (vector<32xf32>)
// CHECK: llvm.load {{.*}} -> vector<32xf32>
// CHECK-NOT: vector.reduction
// CHECK: llvm.return
func.func @main(%x: tensor<100x64xf32>) -> tensor<64xf32> {
  %y = dlc.reduce sum %x axes [0] : (tensor<100x64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// -----

// bf16 is computed in f32 and rounded when stored, in integers.
// CHECK-LABEL: llvm.func @k0_mul
// CHECK: llvm.load {{.*}} -> vector<32xi16>
// CHECK: arith.mulf {{.*}} : vector<32xf32>
// CHECK: arith.trunci {{.*}} to vector<32xi16>
func.func @main(%x: tensor<64xbf16>) -> tensor<64xbf16> {
  %y = dlc.mul %x, %x : (tensor<64xbf16>, tensor<64xbf16>) -> tensor<64xbf16>
  return %y : tensor<64xbf16>
}
