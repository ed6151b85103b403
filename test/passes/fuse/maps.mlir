// RUN: dlc-opt %s --dlc-fuse --split-input-file | FileCheck %s

// A chain is one kernel, which contains the splat constant.
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

// Rows: both reductions, the operations between them, and the statistics as additional results.
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

// An expensive value that is broadcast is computed once.
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

// A reduction is not fused through a transposition.
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

// Views remain outside of fusions; a single transposition is a separate kernel.
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

// A residual with another reader is a second result of its consumer's kernel.
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

// A value that depends on another kernel that depends on this one is not fused (cycle).
// CHECK-LABEL: @cycle
// CHECK: dlc.topk
func.func @cycle(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %a = dlc.exp %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %v, %i = dlc.topk %a {k = 1 : i64, axis = 1 : i64} : (tensor<64x64xf32>) -> (tensor<64x1xf32>, tensor<64x1xi64>)
  %b = dlc.sub %a, %v : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xf32>
  return %b : tensor<64x64xf32>
}

// -----

// Loop bodies are fused separately.
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

// A kernel that reduces a concatenation of channels over the image processes it part by part.
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

// -----

// A fusion that reaches its size limit ends at values of 8 bits.
// CHECK-LABEL: @narrow_end
// CHECK: %[[Y:.*]] = dlc.fusion({{.*}} = %arg0) : (tensor<64xui8>) -> tensor<64xui8>
// CHECK: dlc.fusion({{.*}} = %[[Y]]) : (tensor<64xui8>) -> tensor<64xui8>
// CHECK-NOT: dlc.fusion
func.func @narrow_end(%x0: tensor<64xui8>) -> tensor<64xui8> {
  %one = dlc.constant dense<1.0> : tensor<f32>
  %f0 = dlc.cast %x0 to f32 : (tensor<64xui8>) -> tensor<64xf32>
  %a0 = dlc.add %f0, %one : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %x1 = dlc.cast %a0 to ui8 : (tensor<64xf32>) -> tensor<64xui8>
  %f1 = dlc.cast %x1 to f32 : (tensor<64xui8>) -> tensor<64xf32>
  %a1 = dlc.add %f1, %one : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %x2 = dlc.cast %a1 to ui8 : (tensor<64xf32>) -> tensor<64xui8>
  %f2 = dlc.cast %x2 to f32 : (tensor<64xui8>) -> tensor<64xf32>
  %a2 = dlc.add %f2, %one : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %x3 = dlc.cast %a2 to ui8 : (tensor<64xf32>) -> tensor<64xui8>
  %f3 = dlc.cast %x3 to f32 : (tensor<64xui8>) -> tensor<64xf32>
  %a3 = dlc.add %f3, %one : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %x4 = dlc.cast %a3 to ui8 : (tensor<64xf32>) -> tensor<64xui8>
  %f4 = dlc.cast %x4 to f32 : (tensor<64xui8>) -> tensor<64xf32>
  %a4 = dlc.add %f4, %one : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %x5 = dlc.cast %a4 to ui8 : (tensor<64xf32>) -> tensor<64xui8>
  %f5 = dlc.cast %x5 to f32 : (tensor<64xui8>) -> tensor<64xf32>
  %a5 = dlc.add %f5, %one : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %x6 = dlc.cast %a5 to ui8 : (tensor<64xf32>) -> tensor<64xui8>
  %f6 = dlc.cast %x6 to f32 : (tensor<64xui8>) -> tensor<64xf32>
  %a6 = dlc.add %f6, %one : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %x7 = dlc.cast %a6 to ui8 : (tensor<64xf32>) -> tensor<64xui8>
  %f7 = dlc.cast %x7 to f32 : (tensor<64xui8>) -> tensor<64xf32>
  %a7 = dlc.add %f7, %one : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %x8 = dlc.cast %a7 to ui8 : (tensor<64xf32>) -> tensor<64xui8>
  %f8 = dlc.cast %x8 to f32 : (tensor<64xui8>) -> tensor<64xf32>
  %a8 = dlc.add %f8, %one : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %x9 = dlc.cast %a8 to ui8 : (tensor<64xf32>) -> tensor<64xui8>
  %f9 = dlc.cast %x9 to f32 : (tensor<64xui8>) -> tensor<64xf32>
  %a9 = dlc.add %f9, %one : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %x10 = dlc.cast %a9 to ui8 : (tensor<64xf32>) -> tensor<64xui8>
  %f10 = dlc.cast %x10 to f32 : (tensor<64xui8>) -> tensor<64xf32>
  %a10 = dlc.add %f10, %one : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %x11 = dlc.cast %a10 to ui8 : (tensor<64xf32>) -> tensor<64xui8>
  %f11 = dlc.cast %x11 to f32 : (tensor<64xui8>) -> tensor<64xf32>
  %a11 = dlc.add %f11, %one : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %x12 = dlc.cast %a11 to ui8 : (tensor<64xf32>) -> tensor<64xui8>
  %f12 = dlc.cast %x12 to f32 : (tensor<64xui8>) -> tensor<64xf32>
  %a12 = dlc.add %f12, %one : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %x13 = dlc.cast %a12 to ui8 : (tensor<64xf32>) -> tensor<64xui8>
  %f13 = dlc.cast %x13 to f32 : (tensor<64xui8>) -> tensor<64xf32>
  %a13 = dlc.add %f13, %one : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %x14 = dlc.cast %a13 to ui8 : (tensor<64xf32>) -> tensor<64xui8>
  %f14 = dlc.cast %x14 to f32 : (tensor<64xui8>) -> tensor<64xf32>
  %a14 = dlc.add %f14, %one : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %x15 = dlc.cast %a14 to ui8 : (tensor<64xf32>) -> tensor<64xui8>
  %f15 = dlc.cast %x15 to f32 : (tensor<64xui8>) -> tensor<64xf32>
  %a15 = dlc.add %f15, %one : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %x16 = dlc.cast %a15 to ui8 : (tensor<64xf32>) -> tensor<64xui8>
  %f16 = dlc.cast %x16 to f32 : (tensor<64xui8>) -> tensor<64xf32>
  %a16 = dlc.add %f16, %one : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %x17 = dlc.cast %a16 to ui8 : (tensor<64xf32>) -> tensor<64xui8>
  %f17 = dlc.cast %x17 to f32 : (tensor<64xui8>) -> tensor<64xf32>
  %a17 = dlc.add %f17, %one : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %x18 = dlc.cast %a17 to ui8 : (tensor<64xf32>) -> tensor<64xui8>
  %f18 = dlc.cast %x18 to f32 : (tensor<64xui8>) -> tensor<64xf32>
  %a18 = dlc.add %f18, %one : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %x19 = dlc.cast %a18 to ui8 : (tensor<64xf32>) -> tensor<64xui8>
  %f19 = dlc.cast %x19 to f32 : (tensor<64xui8>) -> tensor<64xf32>
  %a19 = dlc.add %f19, %one : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %x20 = dlc.cast %a19 to ui8 : (tensor<64xf32>) -> tensor<64xui8>
  %f20 = dlc.cast %x20 to f32 : (tensor<64xui8>) -> tensor<64xf32>
  %a20 = dlc.add %f20, %one : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %x21 = dlc.cast %a20 to ui8 : (tensor<64xf32>) -> tensor<64xui8>
  %f21 = dlc.cast %x21 to f32 : (tensor<64xui8>) -> tensor<64xf32>
  %a21 = dlc.add %f21, %one : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %x22 = dlc.cast %a21 to ui8 : (tensor<64xf32>) -> tensor<64xui8>
  %f22 = dlc.cast %x22 to f32 : (tensor<64xui8>) -> tensor<64xf32>
  %a22 = dlc.add %f22, %one : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %x23 = dlc.cast %a22 to ui8 : (tensor<64xf32>) -> tensor<64xui8>
  return %x23 : tensor<64xui8>
}

// -----

// A few long rows: each reduction is a separate kernel for all cores, and the exponential
// is not recomputed.
// CHECK-LABEL: @long_rows
// CHECK: dlc.fusion({{.*}}) : (tensor<2x65536xf32>) -> tensor<2x1xf32>
// CHECK: dlc.fusion({{.*}}) : ({{.*}}) -> (tensor<2x65536xf32>, tensor<2x1xf32>)
// CHECK: dlc.exp
// CHECK: dlc.fusion({{.*}}) : ({{.*}}) -> tensor<2x65536xf32>
// CHECK-NOT: dlc.exp
// CHECK-NOT: dlc.fusion
func.func @long_rows(%x: tensor<2x65536xf32>) -> tensor<2x65536xf32> {
  %m = dlc.reduce max %x axes [1] keepdims : (tensor<2x65536xf32>) -> tensor<2x1xf32>
  %d = dlc.sub %x, %m : (tensor<2x65536xf32>, tensor<2x1xf32>) -> tensor<2x65536xf32>
  %e = dlc.exp %d : (tensor<2x65536xf32>) -> tensor<2x65536xf32>
  %s = dlc.reduce sum %e axes [1] keepdims : (tensor<2x65536xf32>) -> tensor<2x1xf32>
  %y = dlc.div %e, %s : (tensor<2x65536xf32>, tensor<2x1xf32>) -> tensor<2x65536xf32>
  return %y : tensor<2x65536xf32>
}
