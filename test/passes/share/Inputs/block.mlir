// A transformer block with embedding and the gradients of all parameters: 2 samples of 4 tokens, 8 channels, 4 heads of 2, 16 hidden units.
func.func @main(%tokens: tensor<2x4xi64> {dlc.name = "tokens", dlc.classes = 12 : i64},
                %table: tensor<12x8xf32> {dlc.name = "table", dlc.parameter},
                %g1: tensor<8xf32> {dlc.name = "ln1.weight", dlc.parameter}, %c1: tensor<8xf32> {dlc.name = "ln1.bias", dlc.parameter},
                %wq: tensor<8x8xf32> {dlc.name = "q.weight", dlc.parameter}, %bq: tensor<8xf32> {dlc.name = "q.bias", dlc.parameter},
                %wk: tensor<8x8xf32> {dlc.name = "k.weight", dlc.parameter}, %wv: tensor<8x8xf32> {dlc.name = "v.weight", dlc.parameter},
                %wo: tensor<8x8xf32> {dlc.name = "out.weight", dlc.parameter}, %bo: tensor<8xf32> {dlc.name = "out.bias", dlc.parameter},
                %g2: tensor<8xf32> {dlc.name = "ln2.weight", dlc.parameter}, %c2: tensor<8xf32> {dlc.name = "ln2.bias", dlc.parameter},
                %w1: tensor<8x16xf32> {dlc.name = "fc1.weight", dlc.parameter}, %b1: tensor<16xf32> {dlc.name = "fc1.bias", dlc.parameter},
                %w2: tensor<16x8xf32> {dlc.name = "fc2.weight", dlc.parameter}, %b2: tensor<8xf32> {dlc.name = "fc2.bias", dlc.parameter},
                %seed: tensor<2x4x8xf32> {dlc.name = "seed"})
    -> (tensor<2x4x8xf32>, tensor<12x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>,
        tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x16xf32>, tensor<16xf32>, tensor<16x8xf32>, tensor<8xf32>) {
  %x = dlc.gather 0 %table, %tokens : (tensor<12x8xf32>, tensor<2x4xi64>) -> tensor<2x4x8xf32>
  %n1 = dlc.layer_norm %x scale %g1 bias %c1 {axis = 2 : i64, eps = 1.0e-5 : f64} : (tensor<2x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  %q0 = dlc.matmul %n1, %wq : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
  %q1 = dlc.add %q0, %bq : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  %q2 = dlc.reshape %q1 : (tensor<2x4x8xf32>) -> tensor<2x4x4x2xf32>
  %q = dlc.transpose %q2 [0, 2, 1, 3] : (tensor<2x4x4x2xf32>) -> tensor<2x4x4x2xf32>
  %k0 = dlc.matmul %n1, %wk : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
  %k1 = dlc.reshape %k0 : (tensor<2x4x8xf32>) -> tensor<2x4x4x2xf32>
  %k = dlc.transpose %k1 [0, 2, 1, 3] : (tensor<2x4x4x2xf32>) -> tensor<2x4x4x2xf32>
  %v0 = dlc.matmul %n1, %wv : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
  %v1 = dlc.reshape %v0 : (tensor<2x4x8xf32>) -> tensor<2x4x4x2xf32>
  %v = dlc.transpose %v1 [0, 2, 1, 3] : (tensor<2x4x4x2xf32>) -> tensor<2x4x4x2xf32>
  %a0 = "dlc.attention"(%q, %k, %v) {scale = 0.70710678 : f64, causal} : (tensor<2x4x4x2xf32>, tensor<2x4x4x2xf32>, tensor<2x4x4x2xf32>) -> tensor<2x4x4x2xf32>
  %a1 = dlc.transpose %a0 [0, 2, 1, 3] : (tensor<2x4x4x2xf32>) -> tensor<2x4x4x2xf32>
  %a = dlc.reshape %a1 : (tensor<2x4x4x2xf32>) -> tensor<2x4x8xf32>
  %o0 = dlc.matmul %a, %wo : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
  %o = dlc.add %o0, %bo : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  %h = dlc.add %x, %o : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %n2 = dlc.layer_norm %h scale %g2 bias %c2 {axis = 2 : i64, eps = 1.0e-5 : f64} : (tensor<2x4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  %m0 = dlc.matmul %n2, %w1 : (tensor<2x4x8xf32>, tensor<8x16xf32>) -> tensor<2x4x16xf32>
  %m1 = dlc.add %m0, %b1 : (tensor<2x4x16xf32>, tensor<16xf32>) -> tensor<2x4x16xf32>
  %m2 = dlc.gelu %m1 : (tensor<2x4x16xf32>) -> tensor<2x4x16xf32>
  %m3 = dlc.matmul %m2, %w2 : (tensor<2x4x16xf32>, tensor<16x8xf32>) -> tensor<2x4x8xf32>
  %m = dlc.add %m3, %b2 : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  %y = dlc.add %h, %m : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %d:15 = dlc.gradient(%y) seeds(%seed) in (%table, %g1, %c1, %wq, %bq, %wk, %wv, %wo, %bo, %g2, %c2, %w1, %b1, %w2, %b2)
    : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<12x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>,
       tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x16xf32>, tensor<16xf32>, tensor<16x8xf32>, tensor<8xf32>)
    -> (tensor<12x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>,
        tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x16xf32>, tensor<16xf32>, tensor<16x8xf32>, tensor<8xf32>)
  return %y, %d#0, %d#1, %d#2, %d#3, %d#4, %d#5, %d#6, %d#7, %d#8, %d#9, %d#10, %d#11, %d#12, %d#13, %d#14 : tensor<2x4x8xf32>, tensor<12x8xf32>, tensor<8xf32>,
    tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x16xf32>,
    tensor<16xf32>, tensor<16x8xf32>, tensor<8xf32>
}
