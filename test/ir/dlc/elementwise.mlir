// Elementwise operations: text, broadcasting, dynamic dimensions, devices.
// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-opt %s --mlir-print-op-generic | dlc-opt | FileCheck %s

// CHECK-LABEL: func @unary
func.func @unary(%x: tensor<2x?xf32>, %n: tensor<4xi32>, %b: tensor<4xi1>) {
  // CHECK: dlc.abs %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %0 = dlc.abs %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.neg
  %1 = dlc.neg %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.sign
  %2 = dlc.sign %n : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK: dlc.exp
  %3 = dlc.exp %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.expm1
  %4 = dlc.expm1 %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.log
  %5 = dlc.log %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.log1p
  %6 = dlc.log1p %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.sqrt
  %7 = dlc.sqrt %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.rsqrt
  %8 = dlc.rsqrt %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.sin
  %9 = dlc.sin %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.cos
  %10 = dlc.cos %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.tan
  %11 = dlc.tan %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.asin
  %12 = dlc.asin %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.acos
  %13 = dlc.acos %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.atan
  %14 = dlc.atan %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.sinh
  %15 = dlc.sinh %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.cosh
  %16 = dlc.cosh %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.tanh
  %17 = dlc.tanh %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.asinh
  %18 = dlc.asinh %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.acosh
  %19 = dlc.acosh %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.atanh
  %20 = dlc.atanh %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.erf
  %21 = dlc.erf %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.erfc
  %erfc = dlc.erfc %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.erfinv
  %erfinv = dlc.erfinv %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.sigmoid
  %22 = dlc.sigmoid %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.relu
  %23 = dlc.relu %n : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK: dlc.ceil
  %24 = dlc.ceil %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.floor
  %25 = dlc.floor %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.round
  %26 = dlc.round %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.not %{{.*}} : (tensor<4xi1>) -> tensor<4xi1>
  %27 = dlc.not %b : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK: dlc.gelu %{{.*}} : (tensor<2x?xf32>)
  %28 = dlc.gelu %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.gelu %{{.*}} {approximate} : (tensor<2x?xf32>)
  %29 = dlc.gelu %x {approximate} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  // CHECK: dlc.is_nan %{{.*}} : (tensor<2x?xf32>) -> tensor<2x?xi1>
  %30 = dlc.is_nan %x : (tensor<2x?xf32>) -> tensor<2x?xi1>
  // CHECK: dlc.is_inf %{{.*}} {negative = false} : (tensor<2x?xf32>) -> tensor<2x?xi1>
  %31 = dlc.is_inf %x {negative = false} : (tensor<2x?xf32>) -> tensor<2x?xi1>
  // CHECK: dlc.cast %{{.*}} to bf16 : (tensor<2x?xf32>) -> tensor<2x?xbf16>
  %32 = dlc.cast %x to bf16 : (tensor<2x?xf32>) -> tensor<2x?xbf16>
  // CHECK: dlc.cast %{{.*}} to ui8 : (tensor<4xi1>) -> tensor<4xui8>
  %33 = dlc.cast %b to ui8 : (tensor<4xi1>) -> tensor<4xui8>
  return
}

// CHECK-LABEL: func @binary
func.func @binary(%x: tensor<2x1x4xf32>, %y: tensor<3x1xf32>, %s: tensor<f32>, %i: tensor<4xi64>, %e: tensor<0x4xf32>) {
  // CHECK: dlc.add %{{.*}}, %{{.*}} : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %0 = dlc.add %x, %y : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  // CHECK: dlc.sub
  %1 = dlc.sub %x, %s : (tensor<2x1x4xf32>, tensor<f32>) -> tensor<2x1x4xf32>
  // CHECK: dlc.mul
  %2 = dlc.mul %s, %x : (tensor<f32>, tensor<2x1x4xf32>) -> tensor<2x1x4xf32>
  // CHECK: dlc.div
  %3 = dlc.div %i, %i : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  // CHECK: dlc.pow %{{.*}}, %{{.*}} : (tensor<2x1x4xf32>, tensor<4xi64>) -> tensor<2x1x4xf32>
  %4 = dlc.pow %x, %i : (tensor<2x1x4xf32>, tensor<4xi64>) -> tensor<2x1x4xf32>
  // CHECK: dlc.atan2 %{{.*}}, %{{.*}} : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %atan2 = dlc.atan2 %x, %y : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  // CHECK: dlc.rem %{{.*}}, %{{.*}} {truncated}
  %5 = dlc.rem %i, %i {truncated} : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  // CHECK: dlc.max
  %6 = dlc.max %x, %x : (tensor<2x1x4xf32>, tensor<2x1x4xf32>) -> tensor<2x1x4xf32>
  // CHECK: dlc.min
  %7 = dlc.min %x, %x : (tensor<2x1x4xf32>, tensor<2x1x4xf32>) -> tensor<2x1x4xf32>
  // CHECK: dlc.and
  %8 = dlc.and %i, %i : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  // CHECK: dlc.or
  %9 = dlc.or %i, %i : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  // CHECK: dlc.xor
  %10 = dlc.xor %i, %i : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  // CHECK: dlc.shift_left
  %11 = dlc.shift_left %i, %i : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  // CHECK: dlc.shift_right
  %12 = dlc.shift_right %i, %i : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  // CHECK: dlc.compare ge %{{.*}}, %{{.*}} : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xi1>
  %13 = dlc.compare ge %x, %y : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xi1>
  // CHECK: dlc.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x3x4xi1>, tensor<2x1x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  %14 = dlc.select %13, %x, %s : (tensor<2x3x4xi1>, tensor<2x1x4xf32>, tensor<f32>) -> tensor<2x3x4xf32>
  // An empty dimension remains empty.
  // CHECK: dlc.add %{{.*}} : (tensor<0x4xf32>, tensor<f32>) -> tensor<0x4xf32>
  %15 = dlc.add %e, %s : (tensor<0x4xf32>, tensor<f32>) -> tensor<0x4xf32>
  return
}

// Dynamic dimensions: broadcast with 1 they remain dynamic, with another size they are that size; a declared type may be more or less specific.
// CHECK-LABEL: func @dynamic
func.func @dynamic(%x: tensor<?x4xf32>, %y: tensor<1x?xf32>, %z: tensor<3x1xf32>) {
  // CHECK: dlc.add %{{.*}} : (tensor<?x4xf32>, tensor<1x?xf32>) -> tensor<?x4xf32>
  %0 = dlc.add %x, %y : (tensor<?x4xf32>, tensor<1x?xf32>) -> tensor<?x4xf32>
  // CHECK: dlc.add %{{.*}} : (tensor<?x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %1 = dlc.add %x, %z : (tensor<?x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  // CHECK: dlc.add %{{.*}} : (tensor<?x4xf32>, tensor<1x?xf32>) -> tensor<5x4xf32>
  %2 = dlc.add %x, %y : (tensor<?x4xf32>, tensor<1x?xf32>) -> tensor<5x4xf32>
  return
}

// 0-d operands may be on any device; the result has a layout if all full-size operands have it.
// CHECK-LABEL: func @placed
func.func @placed(%x: tensor<8x16xf32, #dlc.on<cuda:0, aB8b>>, %s: tensor<f32, #dlc.on<cpu>>,
                  %b: tensor<16xf32, #dlc.on<cuda:0>>) {
  // CHECK: dlc.mul %{{.*}} : (tensor<8x16xf32, #dlc.on<cuda:0, aB8b>>, tensor<f32, #dlc.on<cpu>>) -> tensor<8x16xf32, #dlc.on<cuda:0, aB8b>>
  %0 = dlc.mul %x, %s : (tensor<8x16xf32, #dlc.on<cuda:0, aB8b>>, tensor<f32, #dlc.on<cpu>>) -> tensor<8x16xf32, #dlc.on<cuda:0, aB8b>>
  // CHECK: dlc.add %{{.*}} -> tensor<8x16xf32, #dlc.on<cuda:0>>
  %1 = dlc.add %x, %b : (tensor<8x16xf32, #dlc.on<cuda:0, aB8b>>, tensor<16xf32, #dlc.on<cuda:0>>) -> tensor<8x16xf32, #dlc.on<cuda:0>>
  return
}
