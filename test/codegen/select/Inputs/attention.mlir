func.func @main(%q: tensor<2x65x16xf32> {dlc.name = "q"}, %k: tensor<2x70x16xf32> {dlc.name = "k"}, %v: tensor<2x70x24xf32> {dlc.name = "v"}) -> (tensor<2x65x24xf32> {dlc.name = "y"}) {
  %0 = dlc.attention %q, %k, %v {scale = 0.25 : f64} : (tensor<2x65x16xf32>, tensor<2x70x16xf32>, tensor<2x70x24xf32>) -> tensor<2x65x24xf32>
  return %0 : tensor<2x65x24xf32>
}
