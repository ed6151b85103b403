// RUN: dlc-opt %s -dlc-select='threads=1' -dlc-lower='threads=1' -split-input-file | FileCheck %s
// Buckets of a range are reduced in place, each as soon as it is written.

// CHECK: exec.program @main
// CHECK-COUNT-1: exec.alloc
// CHECK-NOT: exec.alloc
// CHECK: exec.launch
// CHECK: exec.record [[FIRST:[0-9]+]]{{$}}
// CHECK: exec.launch
// CHECK: exec.record [[SECOND:[0-9]+]]{{$}}
// CHECK: exec.wait [[FIRST]] {stream = 1 : i64}
// CHECK: exec.library "collective"(%[[A:[0-9a-z]+]], %[[A]])
// CHECK: exec.wait [[SECOND]] {stream = 1 : i64}
// CHECK: exec.library "collective"(%[[B:[0-9a-z]+]], %[[B]])
func.func @main(%x: tensor<64xf32> {dlc.name = "x"}) -> (tensor<64xf32> {dlc.name = "y"}, tensor<64xf32> {dlc.name = "z"}) {
  %a = dlc.fusion(%p = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    %0 = dlc.add %p, %p : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    dlc.yield %0 : tensor<64xf32>
  }
  %b = dlc.fusion(%p = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    %0 = dlc.mul %p, %p : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    dlc.yield %0 : tensor<64xf32>
  }
  %r = dlc.concat 0(%a, %b) : (tensor<64xf32>, tensor<64xf32>) -> tensor<128xf32>
  %first = dlc.slice %r start [0] size [64] stride [1] : (tensor<128xf32>) -> tensor<64xf32>
  %m = dlc.all_reduce mean %first : (tensor<64xf32>) -> tensor<64xf32>
  %second = dlc.slice %r start [64] size [64] stride [1] : (tensor<128xf32>) -> tensor<64xf32>
  %n = dlc.all_reduce mean %second : (tensor<64xf32>) -> tensor<64xf32>
  %y = dlc.fusion(%p = %m) : (tensor<64xf32>) -> tensor<64xf32> {
    %0 = dlc.neg %p : (tensor<64xf32>) -> tensor<64xf32>
    dlc.yield %0 : tensor<64xf32>
  }
  %z = dlc.fusion(%p = %n) : (tensor<64xf32>) -> tensor<64xf32> {
    %0 = dlc.exp %p : (tensor<64xf32>) -> tensor<64xf32>
    dlc.yield %0 : tensor<64xf32>
  }
  return %y, %z : tensor<64xf32>, tensor<64xf32>
}
// -----
// A value that is read afterwards is not overwritten.
// CHECK: exec.program @main
// CHECK: exec.library "collective"(%[[A:[0-9a-z]+]], %[[B:[0-9a-z]+]])
// CHECK-SAME: stream = 1
// CHECK: exec.library "collective"(%[[C:[0-9a-z]+]], %[[C]])
func.func @main(%x: tensor<64xf32> {dlc.name = "x"}) -> (tensor<64xf32> {dlc.name = "y"}, tensor<64xf32> {dlc.name = "z"}) {
  %a = dlc.fusion(%p = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    %0 = dlc.add %p, %p : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    dlc.yield %0 : tensor<64xf32>
  }
  %b = dlc.fusion(%p = %x) : (tensor<64xf32>) -> tensor<64xf32> {
    %0 = dlc.mul %p, %p : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    dlc.yield %0 : tensor<64xf32>
  }
  %r = dlc.concat 0(%a, %b) : (tensor<64xf32>, tensor<64xf32>) -> tensor<128xf32>
  %first = dlc.slice %r start [0] size [64] stride [1] : (tensor<128xf32>) -> tensor<64xf32>
  %m = dlc.all_reduce mean %first : (tensor<64xf32>) -> tensor<64xf32>
  %second = dlc.slice %r start [64] size [64] stride [1] : (tensor<128xf32>) -> tensor<64xf32>
  %n = dlc.all_reduce mean %second : (tensor<64xf32>) -> tensor<64xf32>
  %y = dlc.fusion(%p = %m, %q = %a) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
    %0 = dlc.sub %p, %q : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    dlc.yield %0 : tensor<64xf32>
  }
  %z = dlc.fusion(%p = %n) : (tensor<64xf32>) -> tensor<64xf32> {
    %0 = dlc.exp %p : (tensor<64xf32>) -> tensor<64xf32>
    dlc.yield %0 : tensor<64xf32>
  }
  return %y, %z : tensor<64xf32>, tensor<64xf32>
}
