// RUN: dlc-opt %s -dlc-place -dlc-decompose -dlc-fuse -dlc-select='threads=1' -dlc-lower='threads=1' | FileCheck %s

// Equal fusions on different values share one kernel, and a generated fusion may work in place.
// CHECK-COUNT-1: exec.kernel
// CHECK-NOT: exec.kernel
// CHECK: exec.program @main
// CHECK: exec.launch @[[K:[a-z0-9_]+]](
// CHECK-SAME: inplace [1, 0]
// CHECK: exec.library "builtin"
// CHECK: exec.launch @[[K]](
func.func @main(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %a = dlc.exp %x : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %b = dlc.cumulative sum %a axis 1 : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %c = dlc.exp %b : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return %c : tensor<4x64xf32>
}
