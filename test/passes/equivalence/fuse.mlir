// Each function gives the same results before and after all passes.
// RUN: dlc-opt %s --dlc-evaluate --mlir-print-elementsattrs-with-hex-if-larger=-1 > %t.before
// RUN: dlc-opt %s --dlc-place --dlc-decompose --dlc-fuse --dlc-verify-placement --dlc-evaluate --mlir-print-elementsattrs-with-hex-if-larger=-1 > %t.fused
// RUN: dlc-opt %s --dlc-simplify --dlc-place --dlc-layout=costs=assumed --dlc-verify-layout --dlc-decompose --dlc-fuse --dlc-verify-placement --dlc-verify-layout --dlc-evaluate --mlir-print-elementsattrs-with-hex-if-larger=-1 > %t.after
// RUN: %python %S/compare.py %t.before %t.fused
// RUN: %python %S/compare.py %t.before %t.after

func.func @norms() -> (tensor<2x6x3xf32>, tensor<2x6x3xf32>, tensor<2x6x3xf32>, tensor<2x6x3xf32>, tensor<2x6x3xf32>) {
  %n = dlc.constant dense<0> : tensor<i64>
  %x = dlc.random normal %n seed 1 : (tensor<i64>) -> tensor<2x6x3xf32>
  %s = dlc.random normal %n seed 2 : (tensor<i64>) -> tensor<6x3xf32>
  %c = dlc.random uniform %n seed 3 : (tensor<i64>) -> tensor<6xf32>
  %0 = dlc.softmax %x {axis = 1 : i64} : (tensor<2x6x3xf32>) -> tensor<2x6x3xf32>
  %1 = dlc.log_softmax %0 {axis = 2 : i64} : (tensor<2x6x3xf32>) -> tensor<2x6x3xf32>
  %2 = dlc.layer_norm %x scale %s bias %s {axis = 1 : i64, eps = 1.0e-3 : f64} : (tensor<2x6x3xf32>, tensor<6x3xf32>, tensor<6x3xf32>) -> tensor<2x6x3xf32>
  %3 = dlc.batch_norm %2, %c, %c, %c, %c {eps = 1.0e-3 : f64} : (tensor<2x6x3xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x3xf32>
  %4 = dlc.lrn %x {size = 3 : i64, alpha = 0.5 : f64, beta = 0.75 : f64, k = 2.0 : f64} : (tensor<2x6x3xf32>) -> tensor<2x6x3xf32>
  %5 = dlc.rms_norm %4, %s {axis = 1 : i64, eps = 1.0e-3 : f64} : (tensor<2x6x3xf32>, tensor<6x3xf32>) -> tensor<2x6x3xf32>
  return %0, %1, %3, %4, %5 : tensor<2x6x3xf32>, tensor<2x6x3xf32>, tensor<2x6x3xf32>, tensor<2x6x3xf32>, tensor<2x6x3xf32>
}

func.func @attention() -> (tensor<2x3x5xf32>, tensor<2x3x5xf32>) {
  %n = dlc.constant dense<0> : tensor<i64>
  %q = dlc.random normal %n seed 4 : (tensor<i64>) -> tensor<2x3x4xf32>
  %k = dlc.random normal %n seed 5 : (tensor<i64>) -> tensor<2x6x4xf32>
  %v = dlc.random normal %n seed 6 : (tensor<i64>) -> tensor<2x6x5xf32>
  %m = dlc.random normal %n seed 7 : (tensor<i64>) -> tensor<2x3x6xf32>
  %z = dlc.constant dense<-0.5> : tensor<f32>
  %b = dlc.compare gt %m, %z : (tensor<2x3x6xf32>, tensor<f32>) -> tensor<2x3x6xi1>
  %0 = dlc.attention %q, %k, %v, %m {scale = 0.5 : f64, causal} : (tensor<2x3x4xf32>, tensor<2x6x4xf32>, tensor<2x6x5xf32>, tensor<2x3x6xf32>) -> tensor<2x3x5xf32>
  %1 = dlc.attention %q, %k, %v, %b {scale = 0.5 : f64} : (tensor<2x3x4xf32>, tensor<2x6x4xf32>, tensor<2x6x5xf32>, tensor<2x3x6xi1>) -> tensor<2x3x5xf32>
  return %0, %1 : tensor<2x3x5xf32>, tensor<2x3x5xf32>
}

func.func @convolutions() -> (tensor<1x16x4x4xf32>, tensor<1x24xf32>) {
  %n = dlc.constant dense<0> : tensor<i64>
  %x = dlc.random normal %n seed 8 : (tensor<i64>) -> tensor<1x16x8x8xf32>
  %w = dlc.random normal %n seed 9 : (tensor<i64>) -> tensor<16x16x3x3xf32>
  %v = dlc.random normal %n seed 10 : (tensor<i64>) -> tensor<24x16x1x1xf32>
  %six = dlc.constant dense<6.0> : tensor<f32>
  %zero = dlc.constant dense<0.0> : tensor<f32>
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
  %1 = dlc.sigmoid %0 : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %2 = dlc.mul %0, %1 : (tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %3 = dlc.add %2, %x : (tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %4 = dlc.max_pool %3 {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<1x16x8x8xf32>) -> tensor<1x16x4x4xf32>
  // 24 channels are not a multiple of 16; libraries do not support the sine.
  %5 = dlc.conv %4, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x16x4x4xf32>, tensor<24x16x1x1xf32>) -> tensor<1x24x4x4xf32>
  %6 = dlc.sin %5 : (tensor<1x24x4x4xf32>) -> tensor<1x24x4x4xf32>
  %7 = dlc.max %6, %zero : (tensor<1x24x4x4xf32>, tensor<f32>) -> tensor<1x24x4x4xf32>
  %8 = dlc.min %7, %six : (tensor<1x24x4x4xf32>, tensor<f32>) -> tensor<1x24x4x4xf32>
  %9 = dlc.reduce mean %8 axes [2, 3] : (tensor<1x24x4x4xf32>) -> tensor<1x24xf32>
  return %4, %9 : tensor<1x16x4x4xf32>, tensor<1x24xf32>
}

func.func @squeeze_and_excite() -> tensor<1x16x4x4xf32> {
  %n = dlc.constant dense<0> : tensor<i64>
  %x = dlc.random normal %n seed 11 : (tensor<i64>) -> tensor<1x16x4x4xf32>
  %w = dlc.random normal %n seed 12 : (tensor<i64>) -> tensor<16x16x3x3xf32>
  %v = dlc.random normal %n seed 13 : (tensor<i64>) -> tensor<16x16x1x1xf32>
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x4x4xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x4x4xf32>
  %1 = dlc.reduce mean %0 axes [2, 3] keepdims : (tensor<1x16x4x4xf32>) -> tensor<1x16x1x1xf32>
  %2 = dlc.conv %1, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x16x1x1xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x1x1xf32>
  %3 = dlc.sigmoid %2 : (tensor<1x16x1x1xf32>) -> tensor<1x16x1x1xf32>
  %4 = dlc.mul %3, %0 : (tensor<1x16x1x1xf32>, tensor<1x16x4x4xf32>) -> tensor<1x16x4x4xf32>
  return %4 : tensor<1x16x4x4xf32>
}

func.func @statistics() -> (tensor<4x6xf32>, tensor<4xf32>, tensor<6xf32>) {
  %n = dlc.constant dense<0> : tensor<i64>
  %x = dlc.random normal %n seed 14 : (tensor<i64>) -> tensor<4x6xf32>
  %y = dlc.random normal %n seed 15 : (tensor<i64>) -> tensor<4x6xf32>
  %s = dlc.add %x, %y : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %m = dlc.reduce mean %s axes [1] keepdims : (tensor<4x6xf32>) -> tensor<4x1xf32>
  %c = dlc.sub %s, %m : (tensor<4x6xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>
  %q = dlc.mul %c, %c : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %v = dlc.reduce sum %q axes [1] : (tensor<4x6xf32>) -> tensor<4xf32>
  %u = dlc.reduce max %q axes [0] : (tensor<4x6xf32>) -> tensor<6xf32>
  %r = dlc.sqrt %v : (tensor<4xf32>) -> tensor<4xf32>
  return %c, %r, %u : tensor<4x6xf32>, tensor<4xf32>, tensor<6xf32>
}

func.func @movements() -> (tensor<2x4x3xf32>, tensor<5x4xf32>, tensor<2x2x3xf32>) {
  %n = dlc.constant dense<0> : tensor<i64>
  %x = dlc.random normal %n seed 16 : (tensor<i64>) -> tensor<2x3x4xf32>
  %table = dlc.random normal %n seed 17 : (tensor<i64>) -> tensor<9x4xf32>
  %ids = dlc.constant dense<[3, 1, 8, -1, 0]> : tensor<5xi64>
  %z = dlc.constant dense<0.5> : tensor<f32>
  %e = dlc.exp %x : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %t = dlc.transpose %e [0, 2, 1] : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %l = dlc.tanh %t : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  %g = dlc.gather 0 %table, %ids : (tensor<9x4xf32>, tensor<5xi64>) -> tensor<5x4xf32>
  %a = dlc.mul %g, %g : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
  %p = dlc.pad constant %t, %z low [0, 1, 0] high [0, -1, 0] : (tensor<2x4x3xf32>, tensor<f32>) -> tensor<2x4x3xf32>
  %s1 = dlc.slice %p start [0, 0, 0] size [2, 1, 3] stride [1, 1, 1] : (tensor<2x4x3xf32>) -> tensor<2x1x3xf32>
  %s2 = dlc.slice %l start [0, 3, 0] size [2, 1, 3] stride [1, 1, 1] : (tensor<2x4x3xf32>) -> tensor<2x1x3xf32>
  %c = dlc.concat 1 (%s1, %s2) : (tensor<2x1x3xf32>, tensor<2x1x3xf32>) -> tensor<2x2x3xf32>
  %d = dlc.neg %c : (tensor<2x2x3xf32>) -> tensor<2x2x3xf32>
  return %l, %a, %d : tensor<2x4x3xf32>, tensor<5x4xf32>, tensor<2x2x3xf32>
}

func.func @control() -> tensor<4xf32> {
  %n = dlc.constant dense<0> : tensor<i64>
  %five = dlc.constant dense<5> : tensor<i64>
  %x = dlc.random uniform %n seed 18 : (tensor<i64>) -> tensor<4xf32>
  %half = dlc.constant dense<0.5> : tensor<f32>
  %s = dlc.mul %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %y = dlc.loop trip(%five : tensor<i64>) inits(%x : tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %c: tensor<4xf32>):
    %d = dlc.add %c, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %e = dlc.tanh %d : (tensor<4xf32>) -> tensor<4xf32>
    dlc.yield %e : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
