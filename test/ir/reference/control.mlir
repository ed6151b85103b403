// Results of branches, loops and fused regions; regions use values from outside.
// RUN: dlc-opt %s --dlc-evaluate | FileCheck %s

// CHECK-LABEL: @branch()
// CHECK-NEXT: dense<[1.100000e+01, 1.200000e+01]>
// CHECK-NEXT: dense<[-1.000000e+00, -2.000000e+00]>
func.func @branch() -> (tensor<2xf32>, tensor<2xf32>) {
  %x = dlc.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %ten = dlc.constant dense<10.0> : tensor<f32>
  %yes = dlc.constant dense<true> : tensor<i1>
  %no = dlc.constant dense<false> : tensor<1xi1>
  %0 = dlc.if %yes : (tensor<i1>) -> tensor<2xf32> {
    %a = dlc.add %x, %ten : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    dlc.yield %a : tensor<2xf32>
  } else {
    dlc.yield %x : tensor<2xf32>
  }
  %1 = dlc.if %no : (tensor<1xi1>) -> tensor<2xf32> {
    dlc.yield %x : tensor<2xf32>
  } else {
    %n = dlc.neg %x : (tensor<2xf32>) -> tensor<2xf32>
    dlc.yield %n : tensor<2xf32>
  }
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// A constant number of steps: the sum of 0 to 4, and its partial sums stacked.
// CHECK-LABEL: @trip()
// CHECK-NEXT: dense<10>
// CHECK-NEXT: dense<[0, 1, 3, 6, 10]>
func.func @trip() -> (tensor<i64>, tensor<5xi64>) {
  %trip = dlc.constant dense<5> : tensor<i64>
  %zero = dlc.constant dense<0> : tensor<i64>
  %0:2 = dlc.loop trip(%trip : tensor<i64>) inits(%zero : tensor<i64>) -> (tensor<i64>, tensor<5xi64>) {
  ^bb0(%i: tensor<i64>, %sum: tensor<i64>):
    %next = dlc.add %sum, %i : (tensor<i64>, tensor<i64>) -> tensor<i64>
    dlc.yield %next, %next : tensor<i64>, tensor<i64>
  }
  return %0#0, %0#1 : tensor<i64>, tensor<5xi64>
}

// CHECK-LABEL: @no_trip()
// CHECK-NEXT: dense<7>
// CHECK-NEXT: tensor<0x2xi64>
func.func @no_trip() -> (tensor<2xi64>, tensor<0x2xi64>) {
  %trip = dlc.constant dense<0> : tensor<i64>
  %x = dlc.constant dense<7> : tensor<2xi64>
  %0:2 = dlc.loop trip(%trip : tensor<i64>) inits(%x : tensor<2xi64>) -> (tensor<2xi64>, tensor<0x2xi64>) {
  ^bb0(%i: tensor<i64>, %a: tensor<2xi64>):
    dlc.yield %a, %a : tensor<2xi64>, tensor<2xi64>
  }
  return %0#0, %0#1 : tensor<2xi64>, tensor<0x2xi64>
}

// Doubles while the value is below 100; the bound is a value from outside the loop.
// CHECK-LABEL: @condition()
// CHECK-NEXT: dense<1.280000e+02>
func.func @condition() -> tensor<f32> {
  %yes = dlc.constant dense<true> : tensor<i1>
  %one = dlc.constant dense<1.0> : tensor<f32>
  %bound = dlc.constant dense<100.0> : tensor<f32>
  %0 = dlc.loop while(%yes : tensor<i1>) inits(%one : tensor<f32>) -> (tensor<f32>) {
  ^bb0(%i: tensor<i64>, %x: tensor<f32>):
    %y = dlc.add %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %more = dlc.compare lt %y, %bound : (tensor<f32>, tensor<f32>) -> tensor<i1>
    dlc.yield %more, %y : tensor<i1>, tensor<f32>
  }
  return %0 : tensor<f32>
}

// Both a trip count and a condition: the loop ends with the first of them.
// CHECK-LABEL: @both()
// CHECK-NEXT: dense<8.000000e+00>
func.func @both() -> tensor<f32> {
  %trip = dlc.constant dense<3> : tensor<i64>
  %yes = dlc.constant dense<true> : tensor<i1>
  %one = dlc.constant dense<1.0> : tensor<f32>
  %0 = dlc.loop trip(%trip : tensor<i64>) while(%yes : tensor<i1>) inits(%one : tensor<f32>) -> (tensor<f32>) {
  ^bb0(%i: tensor<i64>, %x: tensor<f32>):
    %y = dlc.add %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
    dlc.yield %yes, %y : tensor<i1>, tensor<f32>
  }
  return %0 : tensor<f32>
}

// A branch inside a loop uses values from inside and outside the loop.
// CHECK-LABEL: @nested()
// CHECK-NEXT: dense<[3, 5]>
func.func @nested() -> tensor<2xi64> {
  %trip = dlc.constant dense<4> : tensor<i64>
  %two = dlc.constant dense<2> : tensor<i64>
  %x = dlc.constant dense<[1, 3]> : tensor<2xi64>
  %one = dlc.constant dense<1> : tensor<i64>
  %0 = dlc.loop trip(%trip : tensor<i64>) inits(%x : tensor<2xi64>) -> (tensor<2xi64>) {
  ^bb0(%i: tensor<i64>, %a: tensor<2xi64>):
    %late = dlc.compare ge %i, %two : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %b = dlc.if %late : (tensor<i1>) -> tensor<2xi64> {
      %c = dlc.add %a, %one : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
      dlc.yield %c : tensor<2xi64>
    } else {
      dlc.yield %a : tensor<2xi64>
    }
    dlc.yield %b : tensor<2xi64>
  }
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: @fusion()
// CHECK-NEXT: dense<[4.000000e+00, 9.000000e+00]>
func.func @fusion() -> tensor<2xf32> {
  %x = dlc.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %one = dlc.constant dense<1.0> : tensor<f32>
  %0 = "dlc.fusion"(%x, %one) ({
  ^bb0(%a: tensor<2xf32>, %b: tensor<f32>):
    %s = dlc.add %a, %b : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %m = dlc.mul %s, %s : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "dlc.yield"(%m) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
