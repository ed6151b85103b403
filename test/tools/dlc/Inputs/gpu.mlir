func.func @main(%x: tensor<8x32xf32> {dlc.name = "x"}, %s: tensor<8x10xf32> {dlc.name = "s"}) -> (tensor<8x10xf32> {dlc.name = "y"}) {
  %w = dlc.constant dense<0.05> : tensor<32x64xf32>
  %v = dlc.constant dense<-0.02> : tensor<64x10xf32>
  %b = dlc.constant dense<0.5> : tensor<64xf32>
  %0 = dlc.matmul %x, %w : (tensor<8x32xf32>, tensor<32x64xf32>) -> tensor<8x64xf32> loc("hidden")
  %1 = dlc.add %0, %b : (tensor<8x64xf32>, tensor<64xf32>) -> tensor<8x64xf32> loc("bias")
  %2 = dlc.tanh %1 : (tensor<8x64xf32>) -> tensor<8x64xf32> loc("act")
  %3 = dlc.matmul %2, %v : (tensor<8x64xf32>, tensor<64x10xf32>) -> tensor<8x10xf32> loc("head")
  %4 = dlc.mul %3, %s : (tensor<8x10xf32>, tensor<8x10xf32>) -> tensor<8x10xf32> loc("scaled")
  %5 = dlc.softmax %4 {axis = 1 : i64} : (tensor<8x10xf32>) -> tensor<8x10xf32> loc("softmax")
  return %5 : tensor<8x10xf32>
}
