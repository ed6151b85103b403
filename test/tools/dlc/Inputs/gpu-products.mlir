func.func @main(%x: tensor<8x32xf32> {dlc.name = "x"}, %q: tensor<2x3x8x16xf32> {dlc.name = "q"}, %k: tensor<2x3x9x16xf32> {dlc.name = "k"}, %w: tensor<32x64xf32> {dlc.name = "w"}, %b: tensor<64xf32> {dlc.name = "b"}) -> (tensor<8x10xf32> {dlc.name = "y"}, tensor<2x3x8x9xf32> {dlc.name = "z"}) {
  %v = dlc.constant dense<-0.02> : tensor<64x10xf32>
  %0 = dlc.matmul %x, %w : (tensor<8x32xf32>, tensor<32x64xf32>) -> tensor<8x64xf32> loc("hidden")
  %1 = dlc.add %0, %b : (tensor<8x64xf32>, tensor<64xf32>) -> tensor<8x64xf32> loc("bias")
  %2 = dlc.relu %1 : (tensor<8x64xf32>) -> tensor<8x64xf32> loc("act")
  %3 = dlc.matmul %2, %v : (tensor<8x64xf32>, tensor<64x10xf32>) -> tensor<8x10xf32> loc("head")
  %4 = dlc.tanh %3 : (tensor<8x10xf32>) -> tensor<8x10xf32> loc("tanh")
  %5 = dlc.matmul %q, %k transpose_b : (tensor<2x3x8x16xf32>, tensor<2x3x9x16xf32>) -> tensor<2x3x8x9xf32> loc("scores")
  return %4, %5 : tensor<8x10xf32>, tensor<2x3x8x9xf32>
}
