// RUN: dlc-opt %s --dlc-fuse --split-input-file | FileCheck %s

// A chain is one kernel; the splat constant lives inside.
// CHECK-LABEL: @chain
// CHECK: dlc.fusion(%{{.*}} = %arg0) :
// CHECK: dlc.exp
// CHECK: dlc.constant
// CHECK: dlc.add
// CHECK: dlc.log
// CHECK: dlc.yield
// CHECK-NOT: dlc.fusion
func.func @chain(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %c = dlc.constant dense<1.0> : tensor<f32>
  %0 = dlc.exp %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = dlc.add %0, %c : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %2 = dlc.log %1 : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}

// -----

// Rows: both reductions, what lies between them, and the statistics as results of their own.
// CHECK-LABEL: @rows
// CHECK: dlc.fusion({{.*}}) : (tensor<64x64xf32>) -> (tensor<64x1xf32>, tensor<64x64xf32>)
// CHECK: dlc.reduce
// CHECK: dlc.reduce
// CHECK: dlc.yield
// CHECK-NOT: dlc.fusion
func.func @rows(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x1xf32>) {
  %m = dlc.reduce mean %x axes [1] keepdims : (tensor<64x64xf32>) -> tensor<64x1xf32>
  %c = dlc.sub %x, %m : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xf32>
  %q = dlc.mul %c, %c : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %v = dlc.reduce mean %q axes [1] keepdims : (tensor<64x64xf32>) -> tensor<64x1xf32>
  %r = dlc.rsqrt %v : (tensor<64x1xf32>) -> tensor<64x1xf32>
  %y = dlc.mul %c, %r : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xf32>
  return %y, %m : tensor<64x64xf32>, tensor<64x1xf32>
}

// -----

// Reductions along different dimensions are two kernels.
// CHECK-LABEL: @both_ways
// CHECK: dlc.fusion
// CHECK: axes [1]
// CHECK: dlc.fusion
// CHECK: axes [0]
func.func @both_ways(%x: tensor<64x64xf32>) -> tensor<1x64xf32> {
  %m = dlc.reduce max %x axes [1] keepdims : (tensor<64x64xf32>) -> tensor<64x1xf32>
  %c = dlc.sub %x, %m : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xf32>
  %v = dlc.reduce sum %c axes [0] keepdims : (tensor<64x64xf32>) -> tensor<1x64xf32>
  return %v : tensor<1x64xf32>
}

// -----

// An expensive value that stretches is computed once.
// CHECK-LABEL: @stretch
// CHECK: dlc.fusion{{.*}} -> tensor<64xf32>
// CHECK: dlc.exp
// CHECK: dlc.fusion{{.*}} -> tensor<64x64xf32>
// CHECK-NEXT: dlc.mul
// CHECK-NEXT: dlc.yield
func.func @stretch(%x: tensor<64x64xf32>, %v: tensor<64xf32>) -> tensor<64x64xf32> {
  %e = dlc.exp %v : (tensor<64xf32>) -> tensor<64xf32>
  %y = dlc.mul %x, %e : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// -----

// A reduction is not pulled through a transposition.
// CHECK-LABEL: @turned
// CHECK: dlc.fusion
// CHECK: dlc.reduce
// CHECK-NEXT: dlc.yield
// CHECK: dlc.transpose
func.func @turned(%x: tensor<64x8x32xf32>, %z: tensor<8x64x1xf32>) -> tensor<8x64x1xf32> {
  %m = dlc.reduce sum %x axes [2] keepdims : (tensor<64x8x32xf32>) -> tensor<64x8x1xf32>
  %t = dlc.transpose %m [1, 0, 2] : (tensor<64x8x1xf32>) -> tensor<8x64x1xf32>
  %y = dlc.add %t, %z : (tensor<8x64x1xf32>, tensor<8x64x1xf32>) -> tensor<8x64x1xf32>
  return %y : tensor<8x64x1xf32>
}

// -----

// Aliases stay outside; a lone transposition is a kernel of its own.
// CHECK-LABEL: @views
// CHECK: %[[R:.*]] = dlc.reshape %arg0
// CHECK: %[[T:.*]] = dlc.fusion(%{{.*}} = %[[R]])
// CHECK-NEXT: dlc.transpose
// CHECK-NEXT: dlc.yield
// CHECK: dlc.reshape %[[T]]
// CHECK: dlc.slice
func.func @views(%x: tensor<4096x64xf32>) -> tensor<8x4096xf32> {
  %r = dlc.reshape %x : (tensor<4096x64xf32>) -> tensor<64x4096xf32>
  %t = dlc.transpose %r [1, 0] : (tensor<64x4096xf32>) -> tensor<4096x64xf32>
  %q = dlc.reshape %t : (tensor<4096x64xf32>) -> tensor<64x4096xf32>
  %s = dlc.slice %q start [8, 0] size [8, 4096] stride [1, 1] : (tensor<64x4096xf32>) -> tensor<8x4096xf32>
  return %s : tensor<8x4096xf32>
}

// -----

// A cheap producer is copied into both of its consumers.
// CHECK-LABEL: @copied
// CHECK: dlc.fusion(%{{.*}} = %arg0) :
// CHECK-NEXT: dlc.cast
// CHECK: dlc.reduce
// CHECK: dlc.fusion(%{{.*}} = %arg0) :
// CHECK-NEXT: dlc.cast
// CHECK: dlc.reduce
// CHECK-NOT: dlc.fusion
func.func @copied(%x: tensor<64x64xbf16>) -> (tensor<1x64xf32>, tensor<64x1xf32>) {
  %c = dlc.cast %x to f32 : (tensor<64x64xbf16>) -> tensor<64x64xf32>
  %a = dlc.reduce sum %c axes [0] keepdims : (tensor<64x64xf32>) -> tensor<1x64xf32>
  %b = dlc.reduce sum %c axes [1] keepdims : (tensor<64x64xf32>) -> tensor<64x1xf32>
  return %a, %b : tensor<1x64xf32>, tensor<64x1xf32>
}

// -----

// A residual used again is a second result of its consumer's kernel.
// CHECK-LABEL: @residual
// CHECK: %[[F:.*]]:2 = dlc.fusion
// CHECK: dlc.add
// CHECK: dlc.reduce
// CHECK: dlc.yield
// CHECK: dlc.topk %[[F]]#
func.func @residual(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x2xf32>) {
  %s = dlc.add %x, %y : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = dlc.reduce mean %s axes [1] keepdims : (tensor<64x64xf32>) -> tensor<64x1xf32>
  %c = dlc.sub %s, %m : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xf32>
  %v, %i = dlc.topk %s {k = 2 : i64, axis = 1 : i64} : (tensor<64x64xf32>) -> (tensor<64x2xf32>, tensor<64x2xi64>)
  return %c, %v : tensor<64x64xf32>, tensor<64x2xf32>
}

// -----

// A value that waits for another kernel which waits for this one is no part of it.
// CHECK-LABEL: @cycle
// CHECK: dlc.topk
func.func @cycle(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %a = dlc.exp %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %v, %i = dlc.topk %a {k = 1 : i64, axis = 1 : i64} : (tensor<64x64xf32>) -> (tensor<64x1xf32>, tensor<64x1xi64>)
  %b = dlc.sub %a, %v : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xf32>
  return %b : tensor<64x64xf32>
}

// -----

// Loop bodies are fused on their own.
// CHECK-LABEL: @loop
// CHECK: dlc.loop
// CHECK: dlc.fusion
// CHECK: dlc.exp
// CHECK: dlc.mul
// CHECK: dlc.yield
func.func @loop(%x: tensor<64xf32>, %k: tensor<64xf32>) -> tensor<64xf32> {
  %n = dlc.constant dense<3> : tensor<i64>
  %y = dlc.loop trip(%n : tensor<i64>) inits(%x : tensor<64xf32>) -> (tensor<64xf32>) {
  ^bb0(%i: tensor<i64>, %c: tensor<64xf32>):
    %d = dlc.exp %c : (tensor<64xf32>) -> tensor<64xf32>
    %e = dlc.mul %d, %k : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    dlc.yield %e : tensor<64xf32>
  }
  return %y : tensor<64xf32>
}

// -----

// A kernel that sums up what is made of a concatenation of channels, over the image, walks it part by part.
// CHECK-LABEL: @joined_mean
// CHECK: dlc.fusion
// CHECK: dlc.concat
// CHECK-NEXT: dlc.sigmoid
// CHECK-NEXT: dlc.reduce
// CHECK-NEXT: dlc.yield
func.func @joined_mean(%a: tensor<1x24x32x32xf32, #dlc.on<cpu, acdb>>, %b: tensor<1x40x32x32xf32, #dlc.on<cpu, acdb>>) -> (tensor<1x64x32x32xf32, #dlc.on<cpu, acdb>>, tensor<1x64x1x1xf32, #dlc.on<cpu>>) {
  %0 = dlc.concat 1 (%a, %b) : (tensor<1x24x32x32xf32, #dlc.on<cpu, acdb>>, tensor<1x40x32x32xf32, #dlc.on<cpu, acdb>>) -> tensor<1x64x32x32xf32, #dlc.on<cpu, acdb>>
  %1 = dlc.sigmoid %0 : (tensor<1x64x32x32xf32, #dlc.on<cpu, acdb>>) -> tensor<1x64x32x32xf32, #dlc.on<cpu, acdb>>
  %2 = dlc.reduce mean %1 axes [2, 3] keepdims : (tensor<1x64x32x32xf32, #dlc.on<cpu, acdb>>) -> tensor<1x64x1x1xf32, #dlc.on<cpu>>
  return %1, %2 : tensor<1x64x32x32xf32, #dlc.on<cpu, acdb>>, tensor<1x64x1x1xf32, #dlc.on<cpu>>
}
