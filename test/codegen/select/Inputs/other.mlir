func.func @main(%x: tensor<7x5xf32> {dlc.name = "x"}, %v: tensor<5x9xf32> {dlc.name = "v"}) -> (tensor<7x9xf32> {dlc.name = "y"}) {
  %0 = dlc.matmul %x, %v : (tensor<7x5xf32>, tensor<5x9xf32>) -> tensor<7x9xf32>
  return %0 : tensor<7x9xf32>
}
