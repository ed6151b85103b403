// RUN: dlc-opt %s --dlc-simplify | FileCheck %s

// Shape arithmetic disappears.
// CHECK-LABEL: @arithmetic
// CHECK-NEXT: %[[C:.*]] = dlc.constant dense<[2, 12]> : tensor<2xi64>
// CHECK-NEXT: return %[[C]]
func.func @arithmetic() -> tensor<2xi64> {
  %a = dlc.constant dense<[2, 3, 4]> : tensor<3xi64>
  %i = dlc.constant dense<[0]> : tensor<1xi64>
  %j = dlc.constant dense<[1]> : tensor<1xi64>
  %k = dlc.constant dense<[-1]> : tensor<1xi64>
  %x = dlc.gather 0 %a, %i : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %y = dlc.gather 0 %a, %j : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %z = dlc.gather 0 %a, %k : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
  %p = dlc.mul %y, %z : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %s = dlc.concat 0 (%x, %p) : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  return %s : tensor<2xi64>
}

// Equal elements become a splat.
// CHECK-LABEL: @splat
// CHECK: dlc.constant dense<3.000000e+00> : tensor<4xf32>
func.func @splat() -> tensor<4xf32> {
  %a = dlc.constant dense<[1.0, 2.0, 1.0, 2.0]> : tensor<4xf32>
  %b = dlc.constant dense<[2.0, 1.0, 2.0, 1.0]> : tensor<4xf32>
  %c = dlc.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}

// A constant is not made much larger.
// CHECK-LABEL: @large
// CHECK: dlc.broadcast
func.func @large() -> tensor<1000x1000xf32> {
  %a = dlc.iota 0 : tensor<1000xf32>
  %b = dlc.broadcast %a : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  return %b : tensor<1000x1000xf32>
}

// Random numbers are no constants.
// CHECK-LABEL: @random
// CHECK: dlc.random
func.func @random() -> tensor<4xf32> {
  %n = dlc.constant dense<0> : tensor<i64>
  %r = dlc.random uniform %n seed 7 : (tensor<i64>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// Arguments stay although unused.
// CHECK-LABEL: @arguments(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>)
func.func @arguments(%x: tensor<4xf32>, %unused: tensor<4xf32>) -> tensor<4xf32> {
  %dead = dlc.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NOT: dlc.exp
  return %x : tensor<4xf32>
}
