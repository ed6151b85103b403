// An infinite factor, as results from a scale of zero.
func.func @main(%x: tensor<40x32xf32> {dlc.name = "x"}, %w: tensor<32x48xf32> {dlc.name = "w"}) -> (tensor<40x48xf32> {dlc.name = "y"}) {
  %endless = dlc.constant dense<0x7F800000> : tensor<f32>
  %0 = dlc.matmul %x, %w : (tensor<40x32xf32>, tensor<32x48xf32>) -> tensor<40x48xf32>
  %y = dlc.mul %0, %endless : (tensor<40x48xf32>, tensor<f32>) -> tensor<40x48xf32>
  return %y : tensor<40x48xf32>
}
