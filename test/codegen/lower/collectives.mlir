// RUN: dlc-opt %s -split-input-file -dlc-select='threads=1' -dlc-lower='threads=1' | FileCheck %s
// Collectives have a separate stream: a collective starts when its operand is written, and only readers of its result wait.

// CHECK: exec.program @main
// CHECK-SAME: streams ["cpu", "cpu"]
func.func @main(%x: tensor<64xf32> {dlc.name = "x"}) -> (tensor<64xf32> {dlc.name = "y"}, tensor<64xf32> {dlc.name = "z"}, tensor<16xf32> {dlc.name = "s"}) {
  // CHECK: exec.launch @[[DOUBLE:.*]](
  // CHECK: exec.record [[MADE:[0-9]+]]{{$}}
  %a = dlc.fusion(%p = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    %0 = dlc.add %p, %p : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    dlc.yield %0 : tensor<64xf32>
  }
  // CHECK: exec.wait [[MADE]] {stream = 1 : i64}
  // CHECK: exec.library "collective"({{.*}}) writes [1] inplace [1, 0]
  // CHECK-SAME: \22kind\22:\22all_reduce\22,\22reduction\22:\22mean\22,\22share\22:64
  // CHECK-SAME: stream = 1
  // CHECK: exec.record [[MET:[0-9]+]] {stream = 1 : i64}
  %m = dlc.all_reduce mean %a : (tensor<64xf32>) -> tensor<64xf32>
  // CHECK: exec.library "collective"({{.*}}) writes [1] inplace []
  // CHECK-SAME: \22kind\22:\22reduce_scatter\22{{.*}}\22share\22:16,\22size\22:4
  // CHECK-SAME: stream = 1
  %s = dlc.reduce_scatter sum %a of 4 : (tensor<64xf32>) -> tensor<16xf32>
  // CHECK-NOT: exec.wait
  // CHECK: exec.launch
  %z = dlc.fusion(%p = %a) : (tensor<64xf32>) -> tensor<64xf32> {
    %0 = dlc.mul %p, %p : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    dlc.yield %0 : tensor<64xf32>
  }
  // CHECK: exec.wait [[MET]]{{$}}
  // CHECK: exec.launch
  %y = dlc.fusion(%p = %m) : (tensor<64xf32>) -> tensor<64xf32> {
    %0 = dlc.neg %p : (tensor<64xf32>) -> tensor<64xf32>
    dlc.yield %0 : tensor<64xf32>
  }
  return %y, %z, %s : tensor<64xf32>, tensor<64xf32>, tensor<16xf32>
}

// -----
// In a world of any size, one row per rank.
// CHECK: exec.library "own_rows"({{.*}}) writes [1] inplace []
// CHECK-SAME: \22bytes\22:[32],\22share\22:8
func.func @main(%x: tensor<4xi64> {dlc.name = "x"}) -> (tensor<1xi64> {dlc.name = "s"}) {
  %s = dlc.own_rows %x : (tensor<4xi64>) -> tensor<1xi64>
  return %s : tensor<1xi64>
}

// -----
// A share of a value that all ranks have needs no communication: it is copied on the compute stream.
// CHECK-NOT: streams
// CHECK: exec.library "own_rows"({{.*}}) writes [2] inplace []
// CHECK-SAME: \22bytes\22:[12,4],\22size\22:2
func.func @main(%x: tensor<3xf32> {dlc.name = "x"}, %y: tensor<1xf32> {dlc.name = "y"}) -> (tensor<2xf32> {dlc.name = "s"}) {
  %s = dlc.own_rows %x, %y of 2 : (tensor<3xf32>, tensor<1xf32>) -> tensor<2xf32>
  return %s : tensor<2xf32>
}
