// Each function gives the same results before and after simplify, and after all passes.
// RUN: dlc-opt %s --dlc-evaluate --mlir-print-elementsattrs-with-hex-if-larger=-1 > %t.before
// RUN: dlc-opt %s --dlc-simplify --dlc-evaluate --mlir-print-elementsattrs-with-hex-if-larger=-1 > %t.simplified
// RUN: dlc-opt %s --dlc-simplify --dlc-place --dlc-layout=costs=assumed --dlc-verify-layout --dlc-decompose --dlc-fuse --dlc-verify-placement --dlc-verify-layout --dlc-evaluate --mlir-print-elementsattrs-with-hex-if-larger=-1 > %t.after
// RUN: %python %S/compare.py %t.before %t.simplified
// RUN: %python %S/compare.py %t.before %t.after

func.func @batch_norm() -> tensor<1x4x5x5xf32> {
  %n = dlc.constant dense<0> : tensor<i64>
  %x = dlc.random normal %n seed 1 : (tensor<i64>) -> tensor<1x2x6x6xf32>
  %w = dlc.constant dense<[[[[0.5, 1.0], [-1.0, 2.0]]], [[[1.5, -1.0], [0.25, 0.5]]], [[[1.0, 1.0], [1.0, -2.0]]], [[[0.5, 3.0], [-1.0, 0.75]]]]> : tensor<4x1x2x2xf32>
  %b = dlc.constant dense<[1.0, 2.0, -3.0, 0.5]> : tensor<4xf32>
  %scale = dlc.constant dense<[4.0, 1.0, 2.0, 0.5]> : tensor<4xf32>
  %shift = dlc.constant dense<[5.0, -1.0, 0.0, 1.0]> : tensor<4xf32>
  %mean = dlc.constant dense<[0.5, 0.25, 1.0, -1.0]> : tensor<4xf32>
  %variance = dlc.constant dense<[4.0, 1.0, 2.0, 9.0]> : tensor<4xf32>
  %y = dlc.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 2 : i64} : (tensor<1x2x6x6xf32>, tensor<4x1x2x2xf32>, tensor<4xf32>) -> tensor<1x4x5x5xf32>
  %z = dlc.batch_norm %y, %scale, %shift, %mean, %variance {eps = 1.0e-3 : f64} : (tensor<1x4x5x5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x5x5xf32>
  return %z : tensor<1x4x5x5xf32>
}

func.func @transposed_conv() -> tensor<1x4x7x7xf32> {
  %n = dlc.constant dense<0> : tensor<i64>
  %x = dlc.random normal %n seed 2 : (tensor<i64>) -> tensor<1x2x6x6xf32>
  %w = dlc.constant dense<[[[[0.5, 1.0], [-1.0, 2.0]], [[1.5, -1.0], [0.25, 0.5]]], [[[1.0, 1.0], [1.0, -2.0]], [[0.5, 3.0], [-1.0, 0.75]]]]> : tensor<2x2x2x2xf32>
  %s = dlc.constant dense<[[[1.0]], [[2.0]], [[-3.0]], [[0.5]]]> : tensor<4x1x1xf32>
  %y = dlc.conv_transpose %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, extra = array<i64: 0, 0>, groups = 2 : i64} : (tensor<1x2x6x6xf32>, tensor<2x2x2x2xf32>) -> tensor<1x4x7x7xf32>
  %z = dlc.mul %y, %s : (tensor<1x4x7x7xf32>, tensor<4x1x1xf32>) -> tensor<1x4x7x7xf32>
  %u = dlc.sub %z, %s : (tensor<1x4x7x7xf32>, tensor<4x1x1xf32>) -> tensor<1x4x7x7xf32>
  return %u : tensor<1x4x7x7xf32>
}

func.func @padding() -> tensor<1x2x4x4xf32> {
  %n = dlc.constant dense<0> : tensor<i64>
  %x = dlc.random normal %n seed 3 : (tensor<i64>) -> tensor<1x1x5x5xf32>
  %w = dlc.random normal %n seed 4 : (tensor<i64>) -> tensor<2x1x3x3xf32>
  %zero = dlc.constant dense<0.0> : tensor<f32>
  %inf = dlc.constant dense<0xFF800000> : tensor<f32>
  %p = dlc.pad constant %x, %zero low [0, 0, 1, 2] high [0, 0, 2, 1] : (tensor<1x1x5x5xf32>, tensor<f32>) -> tensor<1x1x8x8xf32>
  %y = dlc.conv %p, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x1x8x8xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x6x6xf32>
  %q = dlc.pad constant %y, %inf low [0, 0, 1, 1] high [0, 0, 1, 1] : (tensor<1x2x6x6xf32>, tensor<f32>) -> tensor<1x2x8x8xf32>
  %z = dlc.max_pool %q {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<1x2x8x8xf32>) -> tensor<1x2x4x4xf32>
  return %z : tensor<1x2x4x4xf32>
}

func.func @gelu() -> (tensor<9xf32>, tensor<9xf32>) {
  %n = dlc.constant dense<0> : tensor<i64>
  %x = dlc.random normal %n seed 5 : (tensor<i64>) -> tensor<9xf32>
  %r = dlc.constant dense<1.41421354> : tensor<f32>
  %one = dlc.constant dense<1.0> : tensor<f32>
  %half = dlc.constant dense<0.5> : tensor<f32>
  %three = dlc.constant dense<3.0> : tensor<f32>
  %c = dlc.constant dense<0.044715> : tensor<f32>
  %s = dlc.constant dense<0.797884583> : tensor<f32>
  %0 = dlc.div %x, %r : (tensor<9xf32>, tensor<f32>) -> tensor<9xf32>
  %1 = dlc.erf %0 : (tensor<9xf32>) -> tensor<9xf32>
  %2 = dlc.add %1, %one : (tensor<9xf32>, tensor<f32>) -> tensor<9xf32>
  %3 = dlc.mul %x, %2 : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  %4 = dlc.mul %3, %half : (tensor<9xf32>, tensor<f32>) -> tensor<9xf32>
  %5 = dlc.pow %x, %three : (tensor<9xf32>, tensor<f32>) -> tensor<9xf32>
  %6 = dlc.mul %5, %c : (tensor<9xf32>, tensor<f32>) -> tensor<9xf32>
  %7 = dlc.add %x, %6 : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  %8 = dlc.mul %7, %s : (tensor<9xf32>, tensor<f32>) -> tensor<9xf32>
  %9 = dlc.tanh %8 : (tensor<9xf32>) -> tensor<9xf32>
  %10 = dlc.add %9, %one : (tensor<9xf32>, tensor<f32>) -> tensor<9xf32>
  %11 = dlc.mul %x, %half : (tensor<9xf32>, tensor<f32>) -> tensor<9xf32>
  %12 = dlc.mul %11, %10 : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  return %4, %12 : tensor<9xf32>, tensor<9xf32>
}

// An encoder layer with heads folded into the batch, as in PyTorch's attention.
func.func @encoder() -> tensor<3x4x8xf32> {
  %n = dlc.constant dense<0> : tensor<i64>
  %x = dlc.random normal %n seed 6 : (tensor<i64>) -> tensor<3x4x8xf32>
  %w = dlc.random normal %n seed 7 : (tensor<i64>) -> tensor<24x8xf32>
  %b = dlc.random normal %n seed 8 : (tensor<i64>) -> tensor<24xf32>
  %o = dlc.random normal %n seed 9 : (tensor<i64>) -> tensor<8x8xf32>
  %s = dlc.constant dense<0.7> : tensor<f32>
  %i0 = dlc.constant dense<0> : tensor<i64>
  %i1 = dlc.constant dense<1> : tensor<i64>
  %i2 = dlc.constant dense<-1> : tensor<i64>
  %t = dlc.transpose %x [1, 0, 2] : (tensor<3x4x8xf32>) -> tensor<4x3x8xf32>
  %wt = dlc.transpose %w [1, 0] : (tensor<24x8xf32>) -> tensor<8x24xf32>
  %m = dlc.matmul %t, %wt : (tensor<4x3x8xf32>, tensor<8x24xf32>) -> tensor<4x3x24xf32>
  %a = dlc.add %m, %b : (tensor<4x3x24xf32>, tensor<24xf32>) -> tensor<4x3x24xf32>
  %r = dlc.reshape %a : (tensor<4x3x24xf32>) -> tensor<1x4x3x3x8xf32>
  %p = dlc.transpose %r [3, 1, 2, 0, 4] : (tensor<1x4x3x3x8xf32>) -> tensor<3x4x3x1x8xf32>
  %z = dlc.reshape %p : (tensor<3x4x3x1x8xf32>) -> tensor<3x4x3x8xf32>
  %q0 = dlc.gather 0 %z, %i0 : (tensor<3x4x3x8xf32>, tensor<i64>) -> tensor<4x3x8xf32>
  %k0 = dlc.gather 0 %z, %i1 : (tensor<3x4x3x8xf32>, tensor<i64>) -> tensor<4x3x8xf32>
  %v0 = dlc.gather 0 %z, %i2 : (tensor<3x4x3x8xf32>, tensor<i64>) -> tensor<4x3x8xf32>
  %q1 = dlc.reshape %q0 : (tensor<4x3x8xf32>) -> tensor<4x6x4xf32>
  %k1 = dlc.reshape %k0 : (tensor<4x3x8xf32>) -> tensor<4x6x4xf32>
  %v1 = dlc.reshape %v0 : (tensor<4x3x8xf32>) -> tensor<4x6x4xf32>
  %q2 = dlc.transpose %q1 [1, 0, 2] : (tensor<4x6x4xf32>) -> tensor<6x4x4xf32>
  %k2 = dlc.transpose %k1 [1, 0, 2] : (tensor<4x6x4xf32>) -> tensor<6x4x4xf32>
  %v2 = dlc.transpose %v1 [1, 0, 2] : (tensor<4x6x4xf32>) -> tensor<6x4x4xf32>
  %q3 = dlc.reshape %q2 : (tensor<6x4x4xf32>) -> tensor<3x2x4x4xf32>
  %k3 = dlc.reshape %k2 : (tensor<6x4x4xf32>) -> tensor<3x2x4x4xf32>
  %v3 = dlc.reshape %v2 : (tensor<6x4x4xf32>) -> tensor<3x2x4x4xf32>
  %qs = dlc.mul %q3, %s : (tensor<3x2x4x4xf32>, tensor<f32>) -> tensor<3x2x4x4xf32>
  %kt = dlc.transpose %k3 [0, 1, 3, 2] : (tensor<3x2x4x4xf32>) -> tensor<3x2x4x4xf32>
  %ks = dlc.mul %kt, %s : (tensor<3x2x4x4xf32>, tensor<f32>) -> tensor<3x2x4x4xf32>
  %sc = dlc.matmul %qs, %ks : (tensor<3x2x4x4xf32>, tensor<3x2x4x4xf32>) -> tensor<3x2x4x4xf32>
  %sm = dlc.softmax %sc {axis = 3 : i64} : (tensor<3x2x4x4xf32>) -> tensor<3x2x4x4xf32>
  %pv = dlc.matmul %sm, %v3 : (tensor<3x2x4x4xf32>, tensor<3x2x4x4xf32>) -> tensor<3x2x4x4xf32>
  %back = dlc.transpose %pv [2, 0, 1, 3] : (tensor<3x2x4x4xf32>) -> tensor<4x3x2x4xf32>
  %rows = dlc.reshape %back : (tensor<4x3x2x4xf32>) -> tensor<12x8xf32>
  %proj = dlc.matmul %rows, %o transpose_b : (tensor<12x8xf32>, tensor<8x8xf32>) -> tensor<12x8xf32>
  %un = dlc.reshape %proj : (tensor<12x8xf32>) -> tensor<4x3x8xf32>
  %first = dlc.transpose %un [1, 0, 2] : (tensor<4x3x8xf32>) -> tensor<3x4x8xf32>
  %res = dlc.add %x, %first : (tensor<3x4x8xf32>, tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
  %ln = dlc.layer_norm %res {axis = 2 : i64, eps = 1.0e-5 : f64} : (tensor<3x4x8xf32>) -> tensor<3x4x8xf32>
  return %ln : tensor<3x4x8xf32>
}

func.func @transposes() -> (tensor<6x4x3xf32>, tensor<2x3x4xf32>) {
  %n = dlc.constant dense<0> : tensor<i64>
  %x = dlc.random normal %n seed 10 : (tensor<i64>) -> tensor<12x6xf32>
  %y = dlc.random normal %n seed 11 : (tensor<i64>) -> tensor<4x3x2xf32>
  %c = dlc.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %t = dlc.transpose %x [1, 0] : (tensor<12x6xf32>) -> tensor<6x12xf32>
  %r = dlc.reshape %t : (tensor<6x12xf32>) -> tensor<6x4x3xf32>
  %a = dlc.mul %r, %c : (tensor<6x4x3xf32>, tensor<3xf32>) -> tensor<6x4x3xf32>
  %u = dlc.transpose %y [2, 1, 0] : (tensor<4x3x2xf32>) -> tensor<2x3x4xf32>
  %k = dlc.reshape %c : (tensor<3xf32>) -> tensor<3x1xf32>
  %v = dlc.sub %k, %u : (tensor<3x1xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %e = dlc.exp %v : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %a, %e : tensor<6x4x3xf32>, tensor<2x3x4xf32>
}

func.func @numbers() -> (tensor<7xf32>, tensor<7xf32>, tensor<7xf32>) {
  %n = dlc.constant dense<0> : tensor<i64>
  %x = dlc.random uniform %n seed 12 : (tensor<i64>) -> tensor<7xf32>
  %two = dlc.constant dense<2.0> : tensor<f32>
  %half = dlc.constant dense<0.5> : tensor<7xf32>
  %eight = dlc.constant dense<8.0> : tensor<1xf32>
  %a = dlc.pow %x, %two : (tensor<7xf32>, tensor<f32>) -> tensor<7xf32>
  %b = dlc.pow %x, %half : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
  %c = dlc.div %a, %b : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
  %d = dlc.div %c, %eight : (tensor<7xf32>, tensor<1xf32>) -> tensor<7xf32>
  %e = dlc.mul %d, %two : (tensor<7xf32>, tensor<f32>) -> tensor<7xf32>
  %f = dlc.add %e, %two : (tensor<7xf32>, tensor<f32>) -> tensor<7xf32>
  %g = dlc.add %two, %f : (tensor<f32>, tensor<7xf32>) -> tensor<7xf32>
  return %a, %c, %g : tensor<7xf32>, tensor<7xf32>, tensor<7xf32>
}
