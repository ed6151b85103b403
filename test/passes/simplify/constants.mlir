// RUN: dlc-opt %s --dlc-simplify | FileCheck %s

// Shape arithmetic is folded.
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

// Folding does not make constants much larger.
// CHECK-LABEL: @large
// CHECK: dlc.broadcast
func.func @large() -> tensor<1000x1000xf32> {
  %a = dlc.iota 0 : tensor<1000xf32>
  %b = dlc.broadcast %a : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  return %b : tensor<1000x1000xf32>
}

// Powers and sines cost more than a load: they are folded into a table, with their operands.
// CHECK-LABEL: @table
// CHECK-NEXT: %[[C:.*]] = dlc.constant dense{{.*}} : tensor<100x100xf32>
// CHECK-NEXT: return %[[C]]
func.func @table() -> tensor<100x100xf32> {
  %a = dlc.iota 0 : tensor<100x1xf32>
  %b = dlc.iota 1 : tensor<1x100xf32>
  %p = dlc.mul %a, %b : (tensor<100x1xf32>, tensor<1x100xf32>) -> tensor<100x100xf32>
  %s = dlc.sin %p : (tensor<100x100xf32>) -> tensor<100x100xf32>
  return %s : tensor<100x100xf32>
}

// An operation that needs a separate kernel is folded with its operands: indices computed by a broadcast, although the broadcast alone is not folded.
// CHECK-LABEL: @scattered
// CHECK-NEXT: %[[C:.*]] = dlc.constant dense<5.000000e+00> : tensor<100x100xf32>
// CHECK-NEXT: return %[[C]]
func.func @scattered() -> tensor<100x100xf32> {
  %zeros = dlc.constant dense<0.0> : tensor<100x100xf32>
  %i = dlc.iota 0 : tensor<100x1xi64>
  %j = dlc.iota 1 : tensor<1x100xi64>
  %is = dlc.broadcast %i : (tensor<100x1xi64>) -> tensor<100x100xi64>
  %js = dlc.broadcast %j : (tensor<1x100xi64>) -> tensor<100x100xi64>
  %ri = dlc.reshape %is : (tensor<100x100xi64>) -> tensor<100x100x1xi64>
  %rj = dlc.reshape %js : (tensor<100x100xi64>) -> tensor<100x100x1xi64>
  %at = dlc.concat 2 (%ri, %rj) : (tensor<100x100x1xi64>, tensor<100x100x1xi64>) -> tensor<100x100x2xi64>
  %fives = dlc.constant dense<5.0> : tensor<100x100xf32>
  %r = dlc.scatter_nd none %zeros, %at, %fives : (tensor<100x100xf32>, tensor<100x100x2xi64>, tensor<100x100xf32>) -> tensor<100x100xf32>
  return %r : tensor<100x100xf32>
}

// A matmul of constants that would take the evaluator long is not folded.
// CHECK-LABEL: @long
// CHECK: dlc.matmul
func.func @long() -> tensor<1024x1024xf32> {
  %a = dlc.constant dense<0.5> : tensor<1024x1024xf32>
  %b = dlc.iota 0 : tensor<1024x1024xf32>
  %c = dlc.matmul %a, %b : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %c : tensor<1024x1024xf32>
}

// Random numbers are not constants.
// CHECK-LABEL: @random
// CHECK: dlc.random
func.func @random() -> tensor<4xf32> {
  %n = dlc.constant dense<0> : tensor<i64>
  %r = dlc.random uniform %n seed 7 : (tensor<i64>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// Unused arguments remain.
// CHECK-LABEL: @arguments(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>)
func.func @arguments(%x: tensor<4xf32>, %unused: tensor<4xf32>) -> tensor<4xf32> {
  %dead = dlc.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NOT: dlc.exp
  return %x : tensor<4xf32>
}
