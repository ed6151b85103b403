// RUN: dlc-opt %s -split-input-file -dlc-place -dlc-fuse -dlc-select='threads=1' -dlc-lower='threads=1' -dlc-plan-memory -dlc-verify-memory | FileCheck %s

// A fused update with several results updates all its states in place.
// CHECK-LABEL: exec.program @main
// CHECK-SAME: inputs [{name = "g", {{[^]]*}}] outputs []
// CHECK-SAME: states [{name = "p", parameter, {{.*}} {init = dense<5.000000e-01> {{.*}} name = "m", {{.*}} arena 0
// CHECK: %[[G:.*]] = exec.input 0
// CHECK: %[[P:.*]] = exec.state 0 : <32>
// CHECK: %[[P1:.*]] = exec.state 0 new
// CHECK: %[[M:.*]] = exec.state 1 : <32>
// CHECK: %[[M1:.*]] = exec.state 1 new
// CHECK-NOT: exec.copy
// CHECK: exec.launch
// CHECK-SAME: %[[P]]
// CHECK-SAME: inplace [{{[0-9]}}
// CHECK-NOT: exec.launch
// CHECK-NOT: exec.copy
func.func @main(%p: tensor<8xf32> {dlc.name = "p", dlc.state, dlc.parameter}, %m: tensor<8xf32> {dlc.name = "m", dlc.state, dlc.init = dense<0.5> : tensor<8xf32>},
                %g: tensor<8xf32> {dlc.name = "g"})
    -> (tensor<8xf32> {dlc.name = "p", dlc.state}, tensor<8xf32> {dlc.name = "m", dlc.state}) {
  %m1 = dlc.sub %m, %g : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %p1 = dlc.sub %p, %m1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %p1, %m1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Readers of the old value are ordered before the update; the update is not moved before its operands.
// CHECK-LABEL: exec.program @main
// CHECK: %[[X:.*]] = exec.input 0
// CHECK: %[[P:.*]] = exec.state 0 : <32>
// CHECK: %[[NEW:.*]] = exec.state 0 new
// CHECK: exec.launch @{{.*}}(%[[P]], %[[Y:.*]]) writes
// CHECK: exec.library "builtin"(%[[X]], %[[NEW]])
// CHECK-NOT: exec.copy
func.func @main(%p: tensor<8xf32> {dlc.name = "p", dlc.state}, %x: tensor<8xf32> {dlc.name = "x"})
    -> (tensor<8xf32> {dlc.name = "p", dlc.state}, tensor<8xf32> {dlc.name = "y"}) {
  %new = dlc.cumulative sum %x axis 0 : (tensor<8xf32>) -> tensor<8xf32>
  %y = dlc.exp %p : (tensor<8xf32>) -> tensor<8xf32>
  return %new, %y : tensor<8xf32>, tensor<8xf32>
}

// -----

// An update runs as soon as its gradient is computed and the old value has no other reader: the second gradient reuses the
// first one's range of the arena.
// CHECK-LABEL: exec.program @main
// CHECK-SAME: arena 131072
// CHECK: exec.library "builtin"(%{{.*}}, %[[G:.*]]) writes
// CHECK: exec.launch @{{.*}}(%{{.*}}, %[[G]], %{{.*}}) writes [2] inplace [2, 0, 2, 1]
// CHECK: exec.library "builtin"(%{{.*}}, %[[H:.*]]) writes
// CHECK: exec.launch @{{.*}}(%{{.*}}, %[[H]], %{{.*}}) writes
// CHECK-NOT: exec.copy
func.func @main(%p: tensor<32768xf32> {dlc.name = "p", dlc.state}, %q: tensor<32768xf32> {dlc.name = "q", dlc.state}, %x: tensor<32768xf32> {dlc.name = "x"})
    -> (tensor<32768xf32> {dlc.name = "p", dlc.state}, tensor<32768xf32> {dlc.name = "q", dlc.state}) {
  %g = dlc.cumulative sum %x axis 0 : (tensor<32768xf32>) -> tensor<32768xf32>
  %h = dlc.cumulative prod %x axis 0 : (tensor<32768xf32>) -> tensor<32768xf32>
  %p1 = dlc.sub %p, %g : (tensor<32768xf32>, tensor<32768xf32>) -> tensor<32768xf32>
  %q1 = dlc.mul %q, %h : (tensor<32768xf32>, tensor<32768xf32>) -> tensor<32768xf32>
  return %p1, %q1 : tensor<32768xf32>, tensor<32768xf32>
}

// -----

// An operation needs the old and the new value: the new one is computed in the arena and copied after all reads.
// CHECK-LABEL: exec.program @main
// CHECK: %[[P:.*]] = exec.state 0 : <32>
// CHECK: %[[NEW:.*]] = exec.state 0 new
// CHECK: exec.library "builtin"(%[[P]], %[[MADE:.*]]) writes
// CHECK: exec.launch @{{.*}}(%[[MADE]], %[[P]], %{{.*}})
// CHECK: exec.copy %[[MADE]] to %[[NEW]] bytes 32
func.func @main(%p: tensor<8xf32> {dlc.name = "p", dlc.state}) -> (tensor<8xf32> {dlc.name = "p", dlc.state}, tensor<8xf32> {dlc.name = "y"}) {
  %new = dlc.cumulative sum %p axis 0 : (tensor<8xf32>) -> tensor<8xf32>
  %y = dlc.sub %new, %p : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %new, %y : tensor<8xf32>, tensor<8xf32>
}

// -----

// A swap needs an additional copy; the old value is copied to the output before it is overwritten.
// CHECK-LABEL: exec.program @main
// CHECK: %[[OUT:.*]] = exec.output 0
// CHECK: %[[A:.*]] = exec.state 0 : <32>
// CHECK: %[[A1:.*]] = exec.state 0 new
// CHECK: %[[B:.*]] = exec.state 1 : <32>
// CHECK: %[[B1:.*]] = exec.state 1 new
// CHECK: exec.copy %[[A]] to %[[OUT]] bytes 32
// CHECK: exec.copy %[[SOURCE:.*]] to %[[SAVED:.*]] bytes 32
// CHECK: exec.copy
// CHECK: exec.copy
// CHECK-NOT: exec.copy
func.func @main(%a: tensor<8xf32> {dlc.name = "a", dlc.state}, %b: tensor<8xf32> {dlc.name = "b", dlc.state})
    -> (tensor<8xf32> {dlc.name = "a", dlc.state}, tensor<8xf32> {dlc.name = "b", dlc.state}, tensor<8xf32> {dlc.name = "before"}) {
  return %b, %a, %a : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// The previous parameters are outputs: they are copied directly before the update, without a buffer in the arena.
// CHECK-LABEL: exec.program @main
// CHECK-SAME: arena 0
// CHECK: %[[P:.*]] = exec.state 0 : <32>
// CHECK: %[[P1:.*]] = exec.state 0 new
// CHECK: %[[L1:.*]] = exec.state 1 new
// CHECK: exec.copy %[[P]] to %[[L1]] bytes 32
// CHECK: exec.launch @{{.*}}(%[[P]], %{{.*}}, %[[P1]])
func.func @main(%p: tensor<8xf32> {dlc.name = "p", dlc.state}, %l: tensor<8xf32> {dlc.name = "last", dlc.state}, %g: tensor<8xf32> {dlc.name = "g"})
    -> (tensor<8xf32> {dlc.name = "p", dlc.state}, tensor<8xf32> {dlc.name = "last", dlc.state}) {
  %p1 = dlc.sub %p, %g : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %p1, %p : tensor<8xf32>, tensor<8xf32>
}

// -----

// One state depends on another: the first copy reads the memory that the second one overwrites.
// CHECK-LABEL: exec.program @main
// CHECK-SAME: arena 0
// CHECK: %[[X:.*]] = exec.input 0
// CHECK: %[[A:.*]] = exec.state 0 : <32>
// CHECK: %[[A1:.*]] = exec.state 0 new
// CHECK: %[[B1:.*]] = exec.state 1 new
// CHECK: exec.copy %[[A]] to %[[B1]] bytes 32
// CHECK: exec.copy %[[X]] to %[[A1]] bytes 32
func.func @main(%a: tensor<8xf32> {dlc.name = "a", dlc.state}, %b: tensor<8xf32> {dlc.name = "b", dlc.state}, %x: tensor<8xf32> {dlc.name = "x"})
    -> (tensor<8xf32> {dlc.name = "a", dlc.state}, tensor<8xf32> {dlc.name = "b", dlc.state}) {
  return %x, %a : tensor<8xf32>, tensor<8xf32>
}

// -----

// An unchanged state needs no command; one value for two states, and for the caller.
// CHECK-LABEL: exec.program @main
// CHECK-SAME: arena 0
// CHECK: %[[OUT:.*]] = exec.output 0
// CHECK: %[[B1:.*]] = exec.state 1 new
// CHECK: %[[C1:.*]] = exec.state 2 new
// CHECK: exec.launch @{{.*}}(%{{.*}}, %[[B1]])
// CHECK: exec.copy %[[B1]] to %[[C1]] bytes 32
// CHECK: exec.copy %[[B1]] to %[[OUT]] bytes 32
// CHECK-NOT: exec.copy
func.func @main(%a: tensor<8xf32> {dlc.name = "a", dlc.state}, %b: tensor<8xf32> {dlc.name = "b", dlc.state}, %c: tensor<8xf32> {dlc.name = "c", dlc.state})
    -> (tensor<8xf32> {dlc.name = "a", dlc.state}, tensor<8xf32> {dlc.name = "b", dlc.state}, tensor<8xf32> {dlc.name = "c", dlc.state}, tensor<8xf32> {dlc.name = "y"}) {
  %y = dlc.exp %a : (tensor<8xf32>) -> tensor<8xf32>
  return %a, %y, %y, %y : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// A loop carries a state in place; copying the old value to itself is removed.
// CHECK-LABEL: exec.program @main
// CHECK: %[[S:.*]] = exec.state 0 : <32>
// CHECK: %[[S1:.*]] = exec.state 0 new
// CHECK: exec.copy %[[S]] to %[[S1]] bytes 32
// CHECK: exec.loop
// CHECK-NEXT: exec.launch @{{.*}}(%[[S1]], %[[S1]])
// CHECK-NEXT: {{^}} }{{$}}
func.func @main(%s: tensor<8xf32> {dlc.name = "s", dlc.state}) -> (tensor<8xf32> {dlc.name = "s", dlc.state}) {
  %trip = dlc.constant dense<3> : tensor<i64>
  %last = dlc.loop trip(%trip : tensor<i64>) inits(%s : tensor<8xf32>) -> (tensor<8xf32>) {
  ^bb0(%i: tensor<i64>, %h: tensor<8xf32>):
    %n = dlc.tanh %h : (tensor<8xf32>) -> tensor<8xf32>
    dlc.yield %n : tensor<8xf32>
  }
  return %last : tensor<8xf32>
}

// -----

// Parts of a new value are written in place, after the old value was read; a window of the old value is
// moved through a temporary copy.
// CHECK-LABEL: exec.program @main
// CHECK: %[[S:.*]] = exec.state 0 : <64>
// CHECK: %[[S1:.*]] = exec.state 0 new
// CHECK: %[[W:.*]] = exec.state 1 : <64>
// CHECK: %[[W1:.*]] = exec.state 1 new
// CHECK: exec.copy %[[MOVED:.*]] to %[[W1]] bytes 64
// CHECK: exec.launch @{{.*}}(%[[S]], %[[Y:.*]]) writes
// CHECK: %[[LOW:.*]] = exec.view %[[S1]] at 0
// CHECK: exec.launch @{{.*}}(%{{.*}}, %[[LOW]])
// CHECK: %[[HIGH:.*]] = exec.view %[[S1]] at 32
// CHECK: exec.launch @{{.*}}(%{{.*}}, %[[HIGH]])
func.func @main(%s: tensor<16xf32> {dlc.name = "s", dlc.state}, %w: tensor<16xf32> {dlc.name = "w", dlc.state}, %x: tensor<8xf32> {dlc.name = "x"})
    -> (tensor<16xf32> {dlc.name = "s", dlc.state}, tensor<16xf32> {dlc.name = "w", dlc.state}, tensor<16xf32> {dlc.name = "y"}) {
  %low = dlc.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %high = dlc.cumulative sum %x axis 0 : (tensor<8xf32>) -> tensor<8xf32>
  %high1 = dlc.tanh %high : (tensor<8xf32>) -> tensor<8xf32>
  %s1 = dlc.concat 0 (%low, %high1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  %rest = dlc.slice %w start [8] size [8] stride [1] : (tensor<16xf32>) -> tensor<8xf32>
  %w1 = dlc.concat 0 (%rest, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  %y = dlc.exp %s : (tensor<16xf32>) -> tensor<16xf32>
  return %s1, %w1, %y : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}
