// RUN: dlc-opt %s -dlc-select='threads=1' -dlc-lower='threads=1' | FileCheck %s
// Each device has a compute stream and a copy stream; there is one wait for each stream that is not known to be finished.

!t = tensor<64xf32, #dlc.on<cpu>>
!t1 = tensor<64xf32, #dlc.on<cpu:1>>
!s = tensor<f32, #dlc.on<cpu>>

// CHECK: exec.program @main
// CHECK-SAME: streams ["cpu:1", "cpu:1", "cpu:1", "cpu"]
func.func @main(%x: !t {dlc.name = "x"}, %k: !s {dlc.name = "k"}) -> (!t {dlc.name = "y"}, !t {dlc.name = "z"}) {
  // CHECK: %[[X:.*]] = exec.input 0 : <256>
  // CHECK: %[[K:.*]] = exec.input 1 : <4>
  // CHECK: %[[Y:.*]] = exec.output 0
  // CHECK: %[[Z:.*]] = exec.output 1
  // CHECK: %[[X1:.*]] = exec.alloc : <256 on "cpu:1">
  // CHECK: exec.copy %[[X]] to %[[X1]] bytes 256 : <256>, <256 on "cpu:1">
  %x1 = dlc.transfer %x : (!t) -> !t1
  // A scalar may be on any device; there is one wait for its copy and the other one.
  // CHECK: %[[K1:.*]] = exec.alloc : <4 on "cpu:1">
  // CHECK: exec.copy %[[K]] to %[[K1]] bytes 4 : <4>, <4 on "cpu:1">
  // CHECK: exec.record 0{{$}}
  // CHECK: %[[A:.*]] = exec.alloc : <256 on "cpu:1">
  // CHECK: exec.wait 0 {stream = 1 : i64}
  // CHECK-NOT: exec.wait
  // CHECK: exec.launch @{{.*}}(%[[X1]], %[[K1]], %[[A]]) {{.*}}stream = 1
  %a = dlc.fusion(%p = %x1, %q = %k) : (!t1, !s) -> !t1 {
    %0 = dlc.mul %p, %q : (!t1, !s) -> !t1
    dlc.yield %0 : !t1
  }
  // Copied directly into the caller's memory.
  // CHECK: exec.record 1 {stream = 1 : i64}
  // CHECK: exec.wait 1 {stream = 2 : i64}
  // CHECK: exec.copy %[[A]] to %[[Y]] bytes 256 {stream = 2 : i64}
  %y = dlc.transfer %a : (!t1) -> !t
  // Concurrent with the commands above.
  // CHECK-NOT: exec.wait
  // CHECK: exec.launch @{{.*}}(%[[X]], %[[Z]]) {{.*}}stream = 3
  %z = dlc.fusion(%p = %x) : (!t) -> !t {
    %0 = dlc.tanh %p : (!t) -> !t
    dlc.yield %0 : !t
  }
  return %y, %z : !t, !t
}
