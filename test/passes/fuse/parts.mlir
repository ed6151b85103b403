// RUN: dlc-opt %s --dlc-fuse | FileCheck %s

!g = tensor<128x1024xf32, #dlc.on<cuda:0>>
!h = tensor<128x256xf32, #dlc.on<cuda:0>>

// The sum is read in parts, each element once: it is fused into its readers.
// CHECK-LABEL: func.func @gates
// CHECK: dlc.fusion
// CHECK: dlc.matmul
// CHECK-NOT: dlc.add
// CHECK: dlc.fusion
// CHECK: dlc.add
// CHECK: dlc.slice
// CHECK-NOT: dlc.fusion
// CHECK: return
func.func @gates(%x: !h, %w: tensor<1024x256xf32, #dlc.on<cuda:0>>, %g: !g) -> !h {
  %p = dlc.matmul %x, %w transpose_b : (!h, tensor<1024x256xf32, #dlc.on<cuda:0>>) -> !g
  %n = dlc.neg %p : (!g) -> !g
  %e = dlc.exp %n : (!g) -> !g
  %s = dlc.add %e, %g : (!g, !g) -> !g
  %a = dlc.slice %s start [0, 0] size [128, 256] stride [1, 1] : (!g) -> !h
  %b = dlc.slice %s start [0, 256] size [128, 256] stride [1, 1] : (!g) -> !h
  %t = dlc.tanh %b : (!h) -> !h
  %y = dlc.mul %a, %t : (!h, !h) -> !h
  return %y : !h
}
