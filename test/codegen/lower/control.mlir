// RUN: dlc-opt %s -split-input-file -dlc-place -dlc-fuse -dlc-select='threads=1' -dlc-lower='threads=1' -dlc-plan-memory -dlc-verify-memory | FileCheck %s

// A carried value has one buffer from before the loop until after it, and is overwritten in place if allowed. If it is also stacked, it is copied row by row
// if the caller uses both.
// CHECK-LABEL: exec.program @main
// CHECK: %[[TRIP:.*]] = exec.constant dense<3>
// CHECK: %[[OUT:.*]] = exec.output 0
// CHECK: %[[ROW:.*]] = exec.view %{{.*}} at 0 {step = 16 : i64}
// CHECK: exec.loop trip %[[TRIP]]
// CHECK-NEXT: exec.launch @{{.*}}(%[[OUT]], %[[OUT]]) {{.*}} inplace [1, 0]
// CHECK-NEXT: exec.copy %{{.*}} to %[[ROW]] bytes 16
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  %trip = dlc.constant dense<3> : tensor<i64>
  %last, %all = dlc.loop trip(%trip : tensor<i64>) inits(%x : tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    %n = dlc.tanh %h : (tensor<4xf32>) -> tensor<4xf32>
    dlc.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  }
  return %last, %all : tensor<4xf32>, tensor<3x4xf32>
}

// -----

// CHECK-LABEL: exec.program @main
// CHECK: exec.if
// CHECK: exec.launch
// CHECK: else
// CHECK: exec.launch
func.func @main(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = dlc.if %c : (tensor<i1>) -> tensor<4xf32> {
    %a = dlc.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    dlc.yield %a : tensor<4xf32>
  } else {
    %b = dlc.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
    dlc.yield %b : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// A slice that advances with the iteration needs no kernel, in either direction; stacked values are written in place, in reverse order if
// they are read in reverse order.
// CHECK-LABEL: exec.program @main
// CHECK: %[[X:.*]] = exec.input 0
// CHECK: %[[Y:.*]] = exec.output 0
// CHECK: %[[ROW:.*]] = exec.view %[[Y]] at 48 {step = -16 : i64}
// CHECK: exec.loop
// CHECK-NEXT: %[[A:.*]] = exec.view %[[X]] at 0 {step = 16 : i64}
// CHECK-NEXT: %[[B:.*]] = exec.view %[[X]] at 48 {step = -16 : i64}
// CHECK-NEXT: exec.launch @{{.*}}(%[[A]], %[[B]], %[[ROW]])
// CHECK-NEXT: {{^}} }{{$}}
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %trip = dlc.constant dense<4> : tensor<i64>
  %three = dlc.constant dense<3> : tensor<i64>
  %all = dlc.loop trip(%trip : tensor<i64>) inits() -> (tensor<4x4xf32>) {
  ^bb0(%i: tensor<i64>):
    %a = dlc.gather 0 %x, %i : (tensor<4x4xf32>, tensor<i64>) -> tensor<4xf32>
    %j = dlc.sub %three, %i : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %b = dlc.gather 0 %x, %j : (tensor<4x4xf32>, tensor<i64>) -> tensor<4xf32>
    %n = dlc.sub %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    dlc.yield %n : tensor<4xf32>
  }
  %y = dlc.slice %all start [3, 0] size [4, 4] stride [-1, 1] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// Rows that may be out of range are gathered by a kernel, which handles the range; the same for nested loops.
// CHECK-LABEL: exec.program @main
// CHECK-NOT: step
// CHECK: exec.loop
// CHECK: exec.launch @{{.*}}gather
// CHECK: exec.copy
// CHECK: exec.loop
// CHECK: exec.launch @{{.*}}gather
// CHECK: exec.loop
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %trip = dlc.constant dense<5> : tensor<i64>
  %two = dlc.constant dense<2> : tensor<i64>
  %zero = dlc.constant dense<0.0> : tensor<4xf32>
  %last = dlc.loop trip(%trip : tensor<i64>) inits(%zero : tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    %a = dlc.gather 0 %x, %i : (tensor<4x4xf32>, tensor<i64>) -> tensor<4xf32>
    dlc.yield %a : tensor<4xf32>
  }
  %other = dlc.loop trip(%two : tensor<i64>) inits(%zero : tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    %a = dlc.gather 0 %x, %i : (tensor<4x4xf32>, tensor<i64>) -> tensor<4xf32>
    %m = dlc.loop trip(%two : tensor<i64>) inits(%h : tensor<4xf32>) -> (tensor<4xf32>) {
    ^bb0(%j: tensor<i64>, %g: tensor<4xf32>):
      %n = dlc.add %g, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      dlc.yield %n : tensor<4xf32>
    }
    dlc.yield %m : tensor<4xf32>
  }
  return %last, %other : tensor<4xf32>, tensor<4xf32>
}

// -----

// A carried value that is stacked both before and after an iteration has one buffer with an additional row.
// CHECK-LABEL: exec.program @main
// CHECK: %[[ROWS:.*]] = exec.alloc at 0 : <64>
// CHECK: exec.view %[[ROWS]] at 16 : <64> -> <48>
// CHECK: %[[OLD:.*]] = exec.view %[[ROWS]] at 0 {step = 16 : i64}
// CHECK: %[[NEW:.*]] = exec.view %[[ROWS]] at 16 {step = 16 : i64}
// CHECK: exec.loop
// CHECK-NEXT: exec.launch @{{.*}}(%[[OLD]], %[[NEW]])
// CHECK-NEXT: {{^}} }{{$}}
func.func @main(%x: tensor<4xf32>) -> tensor<3x4xf32> {
  %trip = dlc.constant dense<3> : tensor<i64>
  %last, %before, %after = dlc.loop trip(%trip : tensor<i64>) inits(%x : tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    %n = dlc.tanh %h : (tensor<4xf32>) -> tensor<4xf32>
    dlc.yield %n, %h, %n : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  %y = dlc.mul %before, %after : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// Values that are swapped are saved first.
// CHECK-LABEL: exec.program @main
// CHECK: exec.loop
// CHECK-COUNT-4: exec.copy
// CHECK-NOT: exec.copy
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %trip = dlc.constant dense<3> : tensor<i64>
  %a, %b = dlc.loop trip(%trip : tensor<i64>) inits(%x, %y : tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %g: tensor<4xf32>, %h: tensor<4xf32>):
    dlc.yield %h, %g : tensor<4xf32>, tensor<4xf32>
  }
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// An index with another reader is computed, and its rows are gathered by a kernel.
// CHECK-LABEL: exec.program @main
// CHECK: exec.loop
// CHECK: exec.launch @{{.*}}sub
// CHECK: exec.launch @{{.*}}gather
func.func @main(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi64>) {
  %trip = dlc.constant dense<4> : tensor<i64>
  %three = dlc.constant dense<3> : tensor<i64>
  %all, %indices = dlc.loop trip(%trip : tensor<i64>) inits() -> (tensor<4x4xf32>, tensor<4xi64>) {
  ^bb0(%i: tensor<i64>):
    %j = dlc.sub %three, %i : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %b = dlc.gather 0 %x, %j : (tensor<4x4xf32>, tensor<i64>) -> tensor<4xf32>
    dlc.yield %b, %j : tensor<4xf32>, tensor<i64>
  }
  return %all, %indices : tensor<4x4xf32>, tensor<4xi64>
}
