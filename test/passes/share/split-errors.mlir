// RUN: dlc-opt %s -dlc-split -split-input-file -verify-diagnostics
// An unsupported annotation is an error at the operation that does not support it, with the parameter, the dimension and a hint.

func.func @norm(%x: tensor<4x8xf32>, %w: tensor<8x8xf32> {dlc.name = "fc1.weight", dlc.split = array<i64: 1, 2, 1>}) -> tensor<4x8xf32> {
  %0 = dlc.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  // expected-error @+1 {{dlc.layer_norm in a split program: operand 0 of type [4, 8] is split along dimension 1 since 'fc1.weight' is split, but the operation needs all of it; do not split that parameter, or split the parameter of the next matmul by rows}}
  %y = dlc.layer_norm %0 {axis = 1 : i64, eps = 1.0e-5 : f64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
// -----
func.func @heads(%x: tensor<4x6xf32>, %w: tensor<6x6xf32> {dlc.name = "q.weight", dlc.split = array<i64: 1, 2, 1>}) -> tensor<4x3x2xf32> {
  %0 = dlc.matmul %x, %w : (tensor<4x6xf32>, tensor<6x6xf32>) -> tensor<4x6xf32>
  // expected-error @+1 {{operand 0 of type [4, 6] is split along dimension 1 since 'q.weight' is split; in [4, 3, 2] no dimension can be split into the parts of 2 ranks (the number of heads must be a multiple of it)}}
  %y = dlc.reshape %0 : (tensor<4x6xf32>) -> tensor<4x3x2xf32>
  return %y : tensor<4x3x2xf32>
}
// -----
func.func @forgotten(%x: tensor<4x8xf32>, %w1: tensor<8x16xf32> {dlc.name = "fc1.weight", dlc.split = array<i64: 1, 2, 1>},
                     %w2: tensor<16x8xf32> {dlc.name = "fc2.weight"}) -> tensor<4x8xf32> {
  %0 = dlc.matmul %x, %w1 : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  // expected-error @+1 {{operand 0 of type [4, 16] is split along dimension 1 since 'fc1.weight' is split, which requires a part of 'fc2.weight' along dimension 0 on each rank, but it is not split; split that parameter too (rows), or do not split 'fc1.weight'}}
  %y = dlc.matmul %0, %w2 : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
// -----
func.func @first(%x: tensor<4x16xf32>, %w2: tensor<16x8xf32> {dlc.name = "fc2.weight", dlc.split = array<i64: 0, 2, 1>}) -> tensor<4x8xf32> {
  %0 = dlc.gelu %x : (tensor<4x16xf32>) -> tensor<4x16xf32>
  // expected-error @+1 {{which requires a part of a value of type [4, 16] along dimension 1 on each rank, but it is not split; split the parameter from which it is computed, too, or do not split 'fc2.weight'}}
  %y = dlc.matmul %0, %w2 : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
// -----
func.func @twice(%x: tensor<4x8xf32>, %w1: tensor<8x16xf32> {dlc.name = "fc1.weight", dlc.split = array<i64: 1, 2, 1>},
                 %w2: tensor<16x8xf32> {dlc.name = "fc2.weight", dlc.split = array<i64: 1, 2, 1>}) -> tensor<4x8xf32> {
  %0 = dlc.matmul %x, %w1 : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  // expected-error @+1 {{operand 1 of type [16, 8] is split along dimension 1 since 'fc2.weight' is split, and operand 0 is split along dimension 1 since 'fc1.weight' is split; the two are incompatible: split one of them differently}}
  %y = dlc.matmul %0, %w2 : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
// -----
func.func @cut(%w: tensor<8x24xf32> {dlc.name = "qkv.weight", dlc.split = array<i64: 1, 2, 1>}) -> tensor<8x8xf32> {
  // expected-error @+1 {{is split along dimension 1 since 'qkv.weight' is split, in blocks of 24; elements 8 to 16 are not complete blocks; if a parameter contains several blocks (q, k and v), specify their number, as in columns:3}}
  %k = dlc.slice %w start [0, 8] size [8, 8] stride [1, 1] : (tensor<8x24xf32>) -> tensor<8x8xf32>
  return %k : tensor<8x8xf32>
}
// -----
func.func @table(%table: tensor<12x8xf32> {dlc.name = "table", dlc.split = array<i64: 0, 2, 3>}, %i: tensor<3xi64>) -> tensor<3x8xf32> {
  // expected-error @+1 {{since 'table' is split in 3 blocks; required for a table: one block; write =rows}}
  %y = dlc.gather 0 %table, %i : (tensor<12x8xf32>, tensor<3xi64>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}
// -----
func.func @branch(%w: tensor<4xf32> {dlc.name = "w", dlc.split = array<i64: 0, 2, 1>}, %c: tensor<i1>) -> tensor<4xf32> {
  // expected-error @+1 {{dlc.if in a split program: a value used inside is split along dimension 0 since 'w' is split, but the operation needs all of it; do not split that parameter}}
  %y = dlc.if %c : (tensor<i1>) -> tensor<4xf32> {
    dlc.yield %w : tensor<4xf32>
  } else {
    dlc.yield %w : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
// -----
func.func @state(%w: tensor<4x4xf32> {dlc.name = "w", dlc.split = array<i64: 0, 2, 1>},
                 // expected-error @-1 {{the new value of 's' is split along dimension 0 since 'w' is split, and the state itself is split along dimension 1; split both the same way}}
                 %s: tensor<4x4xf32> {dlc.name = "s", dlc.state, dlc.split = array<i64: 1, 2, 1>}) -> (tensor<4x4xf32> {dlc.name = "s", dlc.state}) {
  return %w : tensor<4x4xf32>
}
// -----
// expected-error @+1 {{`dlc.split` must be the same number of ranks everywhere; found 2 and 4; use one number of ranks}}
func.func @ranks(%w: tensor<4xf32> {dlc.split = array<i64: 0, 2, 1>}, %v: tensor<4xf32> {dlc.split = array<i64: 0, 4, 1>}) { return }
// -----
func.func @early(%w: tensor<4xf32> {dlc.split = array<i64: 0, 2, 1>}) -> tensor<4xf32> {
  %y = dlc.exp %w : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{the gradient must be expanded before parameters are split; run --dlc-grad}}
  %d = dlc.gradient(%y) seeds(%y) in (%w) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}
// -----
func.func @bias(%x: tensor<2x8x4x4xi32> {dlc.name = "x", dlc.split = array<i64: 1, 2, 1>}, %w: tensor<8x8x1x1xi32> {dlc.name = "w", dlc.split = array<i64: 1, 2, 1>}, %b: tensor<8xi32>) -> tensor<2x8x4x4xi32> {
  %0 = dlc.relu %x : (tensor<2x8x4x4xi32>) -> tensor<2x8x4x4xi32>
  // expected-error @+1 {{integers cannot be divided into the ranks' shares of a bias}}
  %y = dlc.conv %0, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<2x8x4x4xi32>, tensor<8x8x1x1xi32>, tensor<8xi32>) -> tensor<2x8x4x4xi32>
  return %y : tensor<2x8x4x4xi32>
}
// -----
func.func @shapes(%x: tensor<?x8xf32>, %w: tensor<8x8xf32> {dlc.name = "w", dlc.split = array<i64: 1, 2, 1>}) -> tensor<?x8xf32> {
  // expected-error @+1 {{dlc.matmul in a split program: required: static shapes for a value that is split along dimension 1 since 'w' is split; compile it for given shapes}}
  %y = dlc.matmul %x, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
