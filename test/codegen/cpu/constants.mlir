// RUN: dlc-opt %s -dlc-lower-kernels | FileCheck %s

// A constant is created once for all uses of the same type.
// CHECK-LABEL: llvm.func @k
// CHECK-DAG: %[[LONG:.*]] = llvm.mlir.constant(8 : i64) : i64
// CHECK-DAG: %[[SHORT:.*]] = llvm.mlir.constant(8 : i32) : i32
// CHECK-DAG: %[[ONES:.*]] = llvm.mlir.constant(dense<1.000000e+00> : vector<4xf32>)
// CHECK: llvm.br
// CHECK-NOT: llvm.mlir.constant
// CHECK: llvm.add %{{.*}}, %[[LONG]] : i64
// CHECK-NOT: llvm.mlir.constant
// CHECK: llvm.store %[[ONES]]
// CHECK: llvm.store %[[SHORT]]
// CHECK: llvm.store %[[ONES]]
// CHECK-NOT: llvm.mlir.constant
// CHECK: llvm.return
llvm.func @k(%data: !llvm.ptr, %n: i64) {
  %zero = arith.constant 0 : i64
  %step = arith.constant 8 : i64
  scf.for %i = %zero to %n step %step : i64 {
    %one = arith.constant dense<1.0> : vector<4xf32>
    %eight = arith.constant 8 : i64
    %other = arith.addi %i, %eight : i64
    %at = llvm.getelementptr %data[%other] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %one, %at : vector<4xf32>, !llvm.ptr
    %short = arith.constant 8 : i32
    llvm.store %short, %at : i32, !llvm.ptr
    %again = arith.constant dense<1.0> : vector<4xf32>
    llvm.store %again, %data : vector<4xf32>, !llvm.ptr
  }
  llvm.return
}
