// Matmuls, a loop and a concatenation on three devices.
func.func @main(%x: tensor<16x32xf32> {dlc.name = "x"}) -> (tensor<16x64xf32> {dlc.name = "y"}, tensor<16x32xf32> {dlc.name = "z"}, tensor<f32> {dlc.name = "sum"}) {
  %n = dlc.constant dense<3> : tensor<i64>
  %w = dlc.constant dense<0.125> : tensor<32x32xf32>
  %half = dlc.constant dense<0.5> : tensor<f32>
  %a = dlc.matmul %x, %w {dlc.device = "cpu:1"} : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  %b = dlc.tanh %a {dlc.device = "cpu:1"} : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %c = dlc.mul %x, %half {dlc.device = "cpu:2"} : (tensor<16x32xf32>, tensor<f32>) -> tensor<16x32xf32>
  %d = dlc.exp %c {dlc.device = "cpu:2"} : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %e = dlc.loop trip(%n : tensor<i64>) inits(%d : tensor<16x32xf32>) -> (tensor<16x32xf32>) {
  ^bb0(%i: tensor<i64>, %v: tensor<16x32xf32>):
    %next = dlc.add %v, %b : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    dlc.yield %next : tensor<16x32xf32>
  } {dlc.device = "cpu:1"}
  %y = dlc.concat 1(%b, %d) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x64xf32>
  %s = dlc.reduce sum %d axes [0, 1] {dlc.device = "cpu:2"} : (tensor<16x32xf32>) -> tensor<f32>
  %z = dlc.mul %e, %s : (tensor<16x32xf32>, tensor<f32>) -> tensor<16x32xf32>
  return %y, %z, %s : tensor<16x64xf32>, tensor<16x32xf32>, tensor<f32>
}
