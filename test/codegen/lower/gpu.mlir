// RUN: dlc-opt %s -dlc-select='threads=1' -dlc-lower='threads=1 gpu-arch=sm_90' -dlc-plan-memory -dlc-verify-memory | FileCheck %s
// RUN: dlc-opt %s -dlc-select='threads=1' -dlc-lower='threads=1 gpu-arch=sm_80' | FileCheck %s --check-prefix=ARCH
// Work of a GPU: text beside the meaning, each launch with its threads, memory for what launches hand on.

!t = tensor<2x3000000xf32, #dlc.on<cuda:0>>
!r = tensor<2xf32, #dlc.on<cuda:0>>
!w = tensor<6xf32, #dlc.on<cuda:0>>
!v = tensor<3xf32, #dlc.on<cuda:0>>
!i = tensor<3xi64, #dlc.on<cuda:0>>

// ARCH: exec.kernel @k0_reduce attributes {arch = "sm_80"

// Few long rows are split into parts: one launch computes partial sums, another adds them in order.
// CHECK: exec.kernel @k0_reduce attributes {arch = "sm_90", functions = ["k0_reduce", "k0_reduce_1"], source = "extern \22C\22 __global__ void
// CHECK: dlc.reduce
// Launches with operands that are not aligned to vectors have a separate kernel; launches of the same fusion and alignment share one.
// CHECK: exec.kernel @k1_exp
// CHECK: exec.kernel @k2_exp
// CHECK: exec.kernel @k3_topk
// CHECK-NOT: exec.kernel
// CHECK: exec.program @main
// CHECK-SAME: streams ["cuda:0"]
func.func @main(%x: !t, %w: !w) -> (!r, !v, !v, !v, !v, !i) {
  // CHECK: %[[X:.*]] = exec.input 0
  // CHECK: %[[W:.*]] = exec.input 1
  // CHECK: %[[R:.*]] = exec.output 0
  // CHECK: %[[PARTS:.*]] = exec.alloc at {{[0-9]+}} : <{{[0-9]+}} on "cuda:0">
  // CHECK: exec.launch @k0_reduce(%[[X]], %[[PARTS]]) writes [1] {{.*}}function = "k0_reduce", grid = array<i32: {{[0-9]+}}, {{[0-9]+}}, 1>
  // CHECK: exec.launch @k0_reduce(%[[R]], %[[PARTS]]) writes [0] {{.*}}function = "k0_reduce_1"
  %r = dlc.fusion(%p = %x) : (!t) -> !r {
    %0 = dlc.reduce sum %p axes [1] : (!t) -> !r
    dlc.yield %0 : !r
  }
  %a = dlc.slice %w start [0] size [3] stride [1] : (!w) -> !v
  %b = dlc.slice %w start [3] size [3] stride [1] : (!w) -> !v
  // CHECK: %[[A:.*]] = exec.view %[[W]] at 0
  // CHECK: %[[B:.*]] = exec.view %[[W]] at 12
  // CHECK: exec.launch @k1_exp(%[[A]],
  %c = dlc.fusion(%p = %a) : (!v) -> !v {
    %0 = dlc.exp %p : (!v) -> !v
    dlc.yield %0 : !v
  }
  // CHECK: exec.launch @k2_exp(%[[B]],
  %d = dlc.fusion(%p = %b) : (!v) -> !v {
    %0 = dlc.exp %p : (!v) -> !v
    dlc.yield %0 : !v
  }
  // CHECK: exec.launch @k1_exp({{.*}}inplace [1, 0]
  %e = dlc.fusion(%p = %c) : (!v) -> !v {
    %0 = dlc.exp %p : (!v) -> !v
    dlc.yield %0 : !v
  }
  // Operations outside of fusions have kernels, too.
  // CHECK: exec.launch @k3_topk
  %f, %g = dlc.topk %e {k = 3 : i64, axis = 0 : i64} : (!v) -> (!v, !i)
  return %r, %c, %d, %e, %f, %g : !r, !v, !v, !v, !v, !i
}
