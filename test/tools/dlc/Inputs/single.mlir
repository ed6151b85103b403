func.func @main(%x: tensor<64x96xf32> {dlc.name = "x"}) -> (tensor<64x96xf32> {dlc.name = "y"}) {
  %0 = dlc.tanh %x : (tensor<64x96xf32>) -> tensor<64x96xf32> loc("alone")
  return %0 : tensor<64x96xf32>
}
