// Convolutions of few channels, and their weight gradients, give the same results with phases as channels.
// RUN: dlc-opt %s --dlc-evaluate --mlir-print-elementsattrs-with-hex-if-larger=-1 > %t.before
// RUN: dlc-opt %s --dlc-place=device=cuda:0 --dlc-layout=costs=assumed --dlc-verify-layout --dlc-decompose --dlc-fuse --dlc-verify-layout --dlc-evaluate --mlir-print-elementsattrs-with-hex-if-larger=-1 > %t.after
// RUN: %python %S/compare.py %t.before %t.after

func.func @strides() -> (tensor<2x16x8x5xf32>, tensor<16x3x7x5xf32>) {
  %n = dlc.constant dense<0> : tensor<i64>
  %x = dlc.random normal %n seed 1 : (tensor<i64>) -> tensor<2x3x17x18xf32>
  %w = dlc.random normal %n seed 2 : (tensor<i64>) -> tensor<16x3x7x5xf32>
  %b = dlc.random normal %n seed 3 : (tensor<i64>) -> tensor<16xf32>
  %y = dlc.conv %x, %w, %b {dlc.math = "tf32", strides = array<i64: 2, 3>, dilations = array<i64: 1, 1>, low = array<i64: 3, 1>, high = array<i64: 2, 0>, groups = 1 : i64} : (tensor<2x3x17x18xf32>, tensor<16x3x7x5xf32>, tensor<16xf32>) -> tensor<2x16x8x5xf32>
  %dw = dlc.conv_weight_grad %x, %y {dlc.math = "tf32", window = array<i64: 7, 5>, strides = array<i64: 2, 3>, dilations = array<i64: 1, 1>, low = array<i64: 3, 1>, high = array<i64: 2, 0>, groups = 1 : i64} : (tensor<2x3x17x18xf32>, tensor<2x16x8x5xf32>) -> tensor<16x3x7x5xf32>
  return %y, %dw : tensor<2x16x8x5xf32>, tensor<16x3x7x5xf32>
}

func.func @far() -> (tensor<2x16x7x7xf32>, tensor<16x3x8x8xf32>) {
  %n = dlc.constant dense<0> : tensor<i64>
  %x = dlc.random normal %n seed 1 : (tensor<i64>) -> tensor<2x3x30x31xf32>
  %w = dlc.random normal %n seed 2 : (tensor<i64>) -> tensor<16x3x8x8xf32>
  %b = dlc.random normal %n seed 3 : (tensor<i64>) -> tensor<16xf32>
  %y = dlc.conv %x, %w, %b {dlc.math = "tf32", strides = array<i64: 4, 4>, dilations = array<i64: 1, 1>, low = array<i64: 2, 2>, high = array<i64: 2, 2>, groups = 1 : i64} : (tensor<2x3x30x31xf32>, tensor<16x3x8x8xf32>, tensor<16xf32>) -> tensor<2x16x7x7xf32>
  %dw = dlc.conv_weight_grad %x, %y {dlc.math = "tf32", window = array<i64: 8, 8>, strides = array<i64: 4, 4>, dilations = array<i64: 1, 1>, low = array<i64: 2, 2>, high = array<i64: 2, 2>, groups = 1 : i64} : (tensor<2x3x30x31xf32>, tensor<2x16x7x7xf32>) -> tensor<16x3x8x8xf32>
  return %y, %dw : tensor<2x16x7x7xf32>, tensor<16x3x8x8xf32>
}

func.func @still() -> (tensor<2x16x9x8xf32>, tensor<16x3x3x3xf32>) {
  %n = dlc.constant dense<0> : tensor<i64>
  %x = dlc.random normal %n seed 1 : (tensor<i64>) -> tensor<2x3x9x8xf32>
  %w = dlc.random normal %n seed 2 : (tensor<i64>) -> tensor<16x3x3x3xf32>
  %b = dlc.random normal %n seed 3 : (tensor<i64>) -> tensor<16xf32>
  %y = dlc.conv %x, %w, %b {dlc.math = "tf32", strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x3x9x8xf32>, tensor<16x3x3x3xf32>, tensor<16xf32>) -> tensor<2x16x9x8xf32>
  %dw = dlc.conv_weight_grad %x, %y {dlc.math = "tf32", window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x3x9x8xf32>, tensor<2x16x9x8xf32>) -> tensor<16x3x3x3xf32>
  return %y, %dw : tensor<2x16x9x8xf32>, tensor<16x3x3x3xf32>
}

func.func @left_out() -> (tensor<2x16x4x4xf32>, tensor<16x1x2x2xf32>) {
  %n = dlc.constant dense<0> : tensor<i64>
  %x = dlc.random normal %n seed 1 : (tensor<i64>) -> tensor<2x1x12x13xf32>
  %w = dlc.random normal %n seed 2 : (tensor<i64>) -> tensor<16x1x2x2xf32>
  %b = dlc.random normal %n seed 3 : (tensor<i64>) -> tensor<16xf32>
  %y = dlc.conv %x, %w, %b {dlc.math = "tf32", strides = array<i64: 3, 3>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<2x1x12x13xf32>, tensor<16x1x2x2xf32>, tensor<16xf32>) -> tensor<2x16x4x4xf32>
  %dw = dlc.conv_weight_grad %x, %y {dlc.math = "tf32", window = array<i64: 2, 2>, strides = array<i64: 3, 3>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<2x1x12x13xf32>, tensor<2x16x4x4xf32>) -> tensor<16x1x2x2xf32>
  return %y, %dw : tensor<2x16x4x4xf32>, tensor<16x1x2x2xf32>
}

func.func @uneven() -> (tensor<2x16x5x6xf32>, tensor<16x2x3x4xf32>) {
  %n = dlc.constant dense<0> : tensor<i64>
  %x = dlc.random normal %n seed 1 : (tensor<i64>) -> tensor<2x2x10x11xf32>
  %w = dlc.random normal %n seed 2 : (tensor<i64>) -> tensor<16x2x3x4xf32>
  %b = dlc.random normal %n seed 3 : (tensor<i64>) -> tensor<16xf32>
  %y = dlc.conv %x, %w, %b {dlc.math = "tf32", strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 1>, high = array<i64: 1, 3>, groups = 1 : i64} : (tensor<2x2x10x11xf32>, tensor<16x2x3x4xf32>, tensor<16xf32>) -> tensor<2x16x5x6xf32>
  %dw = dlc.conv_weight_grad %x, %y {dlc.math = "tf32", window = array<i64: 3, 4>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 1>, high = array<i64: 1, 3>, groups = 1 : i64} : (tensor<2x2x10x11xf32>, tensor<2x16x5x6xf32>) -> tensor<16x2x3x4xf32>
  return %y, %dw : tensor<2x16x5x6xf32>, tensor<16x2x3x4xf32>
}

