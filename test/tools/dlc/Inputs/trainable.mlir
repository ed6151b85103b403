// A classifier whose logits are equal at first.
func.func @main(%x: tensor<8x6xf32> {dlc.name = "x"},
                %w: tensor<6x4xf32> {dlc.init = dense<0.5> : tensor<6x4xf32>, dlc.name = "w", dlc.parameter, dlc.state})
    -> (tensor<8x4xf32> {dlc.name = "y"}) {
  %y = dlc.matmul %x, %w : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
