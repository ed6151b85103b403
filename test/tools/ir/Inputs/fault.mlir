func.func @needless1(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dlc.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @faulty(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dlc.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @needless2(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = dlc.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
