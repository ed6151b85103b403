// Calls, branches, loops that are unrolled, loops with a trip count, and loops with a condition.
// REQUIRES: dlc
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/arrays.py %t x='f32([1, 2])' n='i32(3)' p='bool(0)'
// RUN: dlc run %s --input x=%t/x.npy --input n=%t/n.npy --input p=%t/p.npy --output-dir %t/out > %t/log
// RUN: %python %S/Inputs/show.py %t/out | FileCheck %s
// RUN: dlc-opt %s --dlc-import-stablehlo | FileCheck %s --check-prefix=IR
// IR: dlc.loop while
// IR: dlc.loop trip
// IR-NOT: dlc.loop
// CHECK: call float32 [2]: 4 8
// CHECK-NEXT: case float32 [2]: 3 3
// CHECK-NEXT: counted float32 [2]: 249501 249502
// CHECK-NEXT: if float32 [2]: -1 -2
// CHECK-NEXT: last float32 [2]: -1 -2
// CHECK-NEXT: unrolled float32 [2]: 1 256
// CHECK-NEXT: while float32 [2]: 8 16
func.func private @double(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func public @main(%x: tensor<2xf32> {dlc.name = "x"}, %n: tensor<i32> {dlc.name = "n"}, %p: tensor<i1> {dlc.name = "p"})
    -> (tensor<2xf32> {dlc.name = "while"}, tensor<2xf32> {dlc.name = "counted"}, tensor<2xf32> {dlc.name = "unrolled"}, tensor<2xf32> {dlc.name = "if"},
        tensor<2xf32> {dlc.name = "case"}, tensor<2xf32> {dlc.name = "last"}, tensor<2xf32> {dlc.name = "call"}) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<2xf32>
  cond {
    %less = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %doubled = func.call @double(%a) : (tensor<2xf32>) -> tensor<2xf32>
    stablehlo.return %next, %doubled : tensor<i32>, tensor<2xf32>
  }
  %1:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<2xf32>
  cond {
    %limit = stablehlo.constant dense<1000> : tensor<i32>
    %less = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  } do {
    %two = stablehlo.constant dense<2> : tensor<i32>
    %next = stablehlo.add %i, %two : tensor<i32>
    %float = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
    %wide = stablehlo.broadcast_in_dim %float, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %sum = stablehlo.add %a, %wide : tensor<2xf32>
    stablehlo.return %next, %sum : tensor<i32>, tensor<2xf32>
  }
  %2:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<2xf32>
  cond {
    %limit = stablehlo.constant dense<3> : tensor<i32>
    %less = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %squared = stablehlo.multiply %a, %a : tensor<2xf32>
    stablehlo.return %next, %squared : tensor<i32>, tensor<2xf32>
  }
  %3 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<2xf32>
  }, {
    %negated = stablehlo.negate %x : tensor<2xf32>
    stablehlo.return %negated : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  // An index out of range selects the last branch.
  %4 = "stablehlo.case"(%n) ({
    stablehlo.return %x : tensor<2xf32>
  }, {
    %sqrt = stablehlo.sqrt %x : tensor<2xf32>
    stablehlo.return %sqrt : tensor<2xf32>
  }, {
    %cubed = stablehlo.constant dense<3.0> : tensor<2xf32>
    stablehlo.return %cubed : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  %minus = stablehlo.constant dense<-1> : tensor<i32>
  %5 = "stablehlo.case"(%minus) ({
    stablehlo.return %x : tensor<2xf32>
  }, {
    %negated = stablehlo.negate %x : tensor<2xf32>
    stablehlo.return %negated : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  %6 = call @double(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %7 = stablehlo.custom_call @Sharding(%6) {mhlo.sharding = "{replicated}"} : (tensor<2xf32>) -> tensor<2xf32>
  %8 = stablehlo.composite "test.double" %7 {decomposition = @double} : (tensor<2xf32>) -> tensor<2xf32>
  %9 = stablehlo.optimization_barrier %8 : tensor<2xf32>
  return %0#1, %1#1, %2#1, %3, %4, %5, %9 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
