// RUN: dlc-opt %s -split-input-file -dlc-select='threads=1' -dlc-lower='threads=1 gpu-arch=sm_90' -dlc-plan-memory -dlc-verify-memory | FileCheck %s

!h = tensor<128x256xf32, #dlc.on<cuda:0>>
!n = tensor<i64, #dlc.on<cuda:0>>

// A loop's next value overwrites the previous one, which only its kernel reads: nothing is copied in the loop.
// CHECK: exec.program @main
// CHECK: %[[Y:[0-9]+]] = exec.output 0
// CHECK: exec.copy %{{.*}} to %[[Y]]
// CHECK: exec.loop
// CHECK: exec.launch @k0_{{[a-z_]+}}(%{{[0-9]+}}, %[[Y]], %[[Y]]) writes [2]
// CHECK-NOT: exec.copy
func.func @main(%x: !h, %c: !h) -> !h {
  %t = dlc.constant dense<7> : !n
  %y = dlc.loop trip(%t : !n) inits(%c : !h) -> (!h) {
  ^bb0(%i: !n, %last: !h):
    %next = dlc.fusion(%p = %x, %q = %last) : (!h, !h) -> !h {
      %s = dlc.mul %p, %q : (!h, !h) -> !h
      %e = dlc.tanh %s : (!h) -> !h
      dlc.yield %e : !h
    }
    dlc.yield %next : !h
  }
  return %y : !h
}

// -----

!e = tensor<1000x64xf32, #dlc.on<cuda:0>>
!i = tensor<256x1xi64, #dlc.on<cuda:0>>
!u = tensor<256x64xf32, #dlc.on<cuda:0>>

// Only the first of a scatter's launches reads the operand, so that the state's new value is written in place of the old one.
// CHECK: exec.program @main
// CHECK: %[[OLD:[0-9]+]] = exec.state 0 :
// CHECK: %[[NEW:[0-9]+]] = exec.state 0 new :
// CHECK: exec.launch @k0_scatter_nd(%[[OLD]], %[[NEW]]) writes [1] inplace [1, 0]
// CHECK-NOT: (%[[OLD]]
// CHECK: function = "k0_scatter_nd_3"
// CHECK-NOT: exec.copy
func.func @main(%e: !e {dlc.name = "e", dlc.state}, %i: !i {dlc.name = "i"}, %u: !u {dlc.name = "u"}) -> (!e {dlc.name = "e", dlc.state}) {
  %y = dlc.scatter_nd add %e, %i, %u : (!e, !i, !u) -> !e
  return %y : !e
}
