// RUN: dlc-opt %s -dlc-select='threads=1' -dlc-lower='threads=1' | FileCheck %s
// Taking a rank's own rows needs no communication: it runs on the compute stream. The manifest records the tensor of which a state is a part.

// CHECK: exec.program @main
// CHECK-SAME: states [{init = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>, name = "w", part = array<i64: 0, 2, 1>
// CHECK-NOT: streams
func.func @main(%w: tensor<1xf32> {dlc.name = "w", dlc.state, dlc.part = array<i64: 0, 2, 1>, dlc.init = dense<[1.0, 2.0]> : tensor<2xf32>},
                %x: tensor<64xf32> {dlc.name = "x"}) -> (tensor<32xf32> {dlc.name = "y"}) {
  // CHECK: exec.library "own_rows"({{.*}}) writes [1] inplace []
  // CHECK-SAME: \22bytes\22:[256],\22size\22:2
  %0 = dlc.own_rows %x of 2 : (tensor<64xf32>) -> tensor<32xf32>
  %y = dlc.fusion(%p = %0, %q = %w) : (tensor<32xf32>, tensor<1xf32>) -> tensor<32xf32> {
    %1 = dlc.mul %p, %q : (tensor<32xf32>, tensor<1xf32>) -> tensor<32xf32>
    dlc.yield %1 : tensor<32xf32>
  }
  return %y : tensor<32xf32>
}
