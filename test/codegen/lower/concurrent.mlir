// RUN: dlc-opt %s -split-input-file -dlc-place -dlc-fuse -dlc-select='threads=2' -dlc-lower='threads=2' -dlc-plan-memory -dlc-verify-memory \
// RUN:   | FileCheck %s
// RUN: dlc-opt %s -split-input-file -dlc-place -dlc-fuse -dlc-select='threads=1' -dlc-lower='threads=1' | FileCheck %s --check-prefix=ONE

// Two independent loops run at the same time. What the second one needs (the exponential) precedes both; what it does not need (the sine)
// follows. Buffers of the two bodies do not share memory. With one thread the order is that of the operations.
// CHECK-LABEL: exec.program @main
// CHECK: exec.launch @{{.*}}exp
// CHECK: exec.loop trip {{.*}}> {
// CHECK: %[[A:.*]] = exec.alloc at 0 : <64>
// CHECK: exec.loop trip {{.*}}> concurrent {
// CHECK: %[[B:.*]] = exec.alloc at 64 : <64>
// CHECK: exec.launch @{{.*}}sin
// ONE-LABEL: exec.program @main
// ONE-NOT: concurrent
func.func @main(%x: tensor<16xf32>, %y: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
  %trip = dlc.constant dense<30> : tensor<i64>
  %first = dlc.loop trip(%trip : tensor<i64>) inits(%x : tensor<16xf32>) -> (tensor<16xf32>) {
  ^bb0(%i: tensor<i64>, %h: tensor<16xf32>):
    %s = dlc.reduce sum %h axes [0] keepdims : (tensor<16xf32>) -> tensor<1xf32>
    %n = dlc.mul %h, %s : (tensor<16xf32>, tensor<1xf32>) -> tensor<16xf32>
    dlc.yield %n : tensor<16xf32>
  }
  %sine = dlc.sin %first : (tensor<16xf32>) -> tensor<16xf32>
  %e = dlc.exp %y : (tensor<16xf32>) -> tensor<16xf32>
  %second = dlc.loop trip(%trip : tensor<i64>) inits(%e : tensor<16xf32>) -> (tensor<16xf32>) {
  ^bb0(%i: tensor<i64>, %h: tensor<16xf32>):
    %s = dlc.reduce max %h axes [0] keepdims : (tensor<16xf32>) -> tensor<1xf32>
    %n = dlc.sub %h, %s : (tensor<16xf32>, tensor<1xf32>) -> tensor<16xf32>
    dlc.yield %n : tensor<16xf32>
  }
  return %first, %second, %sine : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}

// -----

// A loop that uses the result of the other one follows it.
// CHECK-LABEL: exec.program @main
// CHECK-COUNT-2: exec.loop
// CHECK-NOT: concurrent
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %trip = dlc.constant dense<30> : tensor<i64>
  %first = dlc.loop trip(%trip : tensor<i64>) inits(%x : tensor<16xf32>) -> (tensor<16xf32>) {
  ^bb0(%i: tensor<i64>, %h: tensor<16xf32>):
    %n = dlc.tanh %h : (tensor<16xf32>) -> tensor<16xf32>
    dlc.yield %n : tensor<16xf32>
  }
  %second = dlc.loop trip(%trip : tensor<i64>) inits(%first : tensor<16xf32>) -> (tensor<16xf32>) {
  ^bb0(%i: tensor<i64>, %h: tensor<16xf32>):
    %n = dlc.exp %h : (tensor<16xf32>) -> tensor<16xf32>
    dlc.yield %n : tensor<16xf32>
  }
  return %second : tensor<16xf32>
}

// -----

// Loops whose commands use all threads follow each other: at the same time, each would have one.
// CHECK-LABEL: exec.program @main
// CHECK-COUNT-2: exec.loop
// CHECK-NOT: concurrent
func.func @main(%x: tensor<4096x4096xf32>, %y: tensor<16xf32>) -> (tensor<4096x4096xf32>, tensor<16xf32>) {
  %trip = dlc.constant dense<30> : tensor<i64>
  %first = dlc.loop trip(%trip : tensor<i64>) inits(%x : tensor<4096x4096xf32>) -> (tensor<4096x4096xf32>) {
  ^bb0(%i: tensor<i64>, %h: tensor<4096x4096xf32>):
    %n = dlc.tanh %h : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    dlc.yield %n : tensor<4096x4096xf32>
  }
  %second = dlc.loop trip(%trip : tensor<i64>) inits(%y : tensor<16xf32>) -> (tensor<16xf32>) {
  ^bb0(%i: tensor<i64>, %h: tensor<16xf32>):
    %n = dlc.exp %h : (tensor<16xf32>) -> tensor<16xf32>
    dlc.yield %n : tensor<16xf32>
  }
  return %first, %second : tensor<4096x4096xf32>, tensor<16xf32>
}
