// relu(x w - 4): for x of ones the columns of w add up to 3, 8, 12 and 16, and 0 4 8 12 comes out.
func.func @main(%x: tensor<1x3xf32> {dlc.name = "x"}) -> (tensor<1x4xf32> {dlc.name = "y"}) {
  %w = dlc.constant dense<[[0.0, 1.0, 2.0, 3.0], [1.0, 3.0, 5.0, 6.0], [2.0, 4.0, 5.0, 7.0]]> : tensor<3x4xf32>
  %four = dlc.constant dense<4.0> : tensor<f32>
  %p = dlc.matmul %x, %w : (tensor<1x3xf32>, tensor<3x4xf32>) -> tensor<1x4xf32>
  %d = dlc.sub %p, %four : (tensor<1x4xf32>, tensor<f32>) -> tensor<1x4xf32>
  %y = dlc.relu %d : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %y : tensor<1x4xf32>
}
