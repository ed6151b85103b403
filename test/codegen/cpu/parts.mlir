// RUN: dlc-opt %s -split-input-file -dlc-place -dlc-decompose -dlc-fuse -dlc-select='threads=1' -dlc-lower='threads=1 vector-bits=512' -dlc-emit-kernels='vector-bits=512' -cse | FileCheck %s

// Parts of the same size share code: a loop over the parts reads their pointers from the argument list. The factors of a part's
// channels are loaded before the loop over its rows.
// CHECK-LABEL: llvm.func @k0_concat_mul_relu
// CHECK-SAME: %[[LIST:[^ ]*]]: !llvm.ptr,
// CHECK: scf.for %[[UNIT:[^ ]*]] =
// CHECK: scf.for
// CHECK-COUNT-2: llvm.store
// CHECK: %[[THREE:.*]] = arith.constant 3 : i64
// CHECK: scf.for %[[PART:[^ ]*]] = %{{.*}} to %[[THREE]] step
// CHECK: %[[CHANNELS:.*]] = arith.muli %[[PART]],
// CHECK: %[[OFFSET:.*]] = arith.addi %[[CHANNELS]],
// CHECK: %[[NUMBER:.*]] = arith.addi %[[PART]],
// CHECK: %[[SLOT:.*]] = llvm.getelementptr %[[LIST]][%[[NUMBER]]]
// CHECK: %[[POINTER:.*]] = llvm.load %[[SLOT]] invariant
// CHECK: %[[FACTORS:.*]] = llvm.getelementptr %{{.*}}[%[[OFFSET]]]
// CHECK: llvm.load %[[FACTORS]]
// CHECK: scf.for
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[POINTER]]
// CHECK-NEXT: llvm.load %[[AT]] {{.*}} -> vector<32xf32>
// CHECK-NOT: llvm.load
// CHECK: llvm.store
// CHECK-NOT: llvm.store
// CHECK: llvm.return
func.func @main(%a: tensor<1x14x14x64xf32>, %b: tensor<1x14x14x32xf32>, %c: tensor<1x14x14x32xf32>, %d: tensor<1x14x14x32xf32>, %s: tensor<160xf32>) -> tensor<1x14x14x160xf32> {
  %j = dlc.concat 3 (%a, %b, %c, %d) : (tensor<1x14x14x64xf32>, tensor<1x14x14x32xf32>, tensor<1x14x14x32xf32>, tensor<1x14x14x32xf32>) -> tensor<1x14x14x160xf32>
  %m = dlc.mul %j, %s : (tensor<1x14x14x160xf32>, tensor<160xf32>) -> tensor<1x14x14x160xf32>
  %y = dlc.relu %m : (tensor<1x14x14x160xf32>) -> tensor<1x14x14x160xf32>
  return %y : tensor<1x14x14x160xf32>
}

// -----

// The same for sums over each part: one branch for consecutive parts of the same size.
// CHECK-LABEL: llvm.func @k0_concat_reduce
// CHECK-COUNT-2: scf.if
// CHECK: llvm.load {{.*}} invariant
// CHECK-NOT: scf.if
// CHECK: llvm.return
func.func @main(%a: tensor<1x56x56x64xf32>, %b: tensor<1x56x56x32xf32>, %c: tensor<1x56x56x32xf32>, %d: tensor<1x56x56x32xf32>) -> (tensor<1x56x56x160xf32>, tensor<1x1x1x160xf32>) {
  %j = dlc.concat 3 (%a, %b, %c, %d) : (tensor<1x56x56x64xf32>, tensor<1x56x56x32xf32>, tensor<1x56x56x32xf32>, tensor<1x56x56x32xf32>) -> tensor<1x56x56x160xf32>
  %s = dlc.reduce sum %j axes [1, 2] keepdims : (tensor<1x56x56x160xf32>) -> tensor<1x1x1x160xf32>
  return %j, %s : tensor<1x56x56x160xf32>, tensor<1x1x1x160xf32>
}

// -----

// A part that all elements use is not part of such a loop and keeps its own pointer.
// CHECK-LABEL: llvm.func @k0_concat_mul
// CHECK: scf.for
// CHECK: llvm.store
// CHECK: %[[TWO:.*]] = arith.constant 2 : i64
// CHECK: scf.for {{.*}} to %[[TWO]] step
func.func @main(%a: tensor<8x1x512xf32>, %b: tensor<8x1x512xf32>, %c: tensor<8x1x512xf32>) -> tensor<8x3x512xf32> {
  %j = dlc.concat 1 (%a, %b, %c) : (tensor<8x1x512xf32>, tensor<8x1x512xf32>, tensor<8x1x512xf32>) -> tensor<8x3x512xf32>
  %y = dlc.mul %j, %a : (tensor<8x3x512xf32>, tensor<8x1x512xf32>) -> tensor<8x3x512xf32>
  return %y : tensor<8x3x512xf32>
}
