func.func @main(%x: tensor<1x16x20x20xf32> {dlc.name = "x"}, %w: tensor<32x16x3x3xf32> {dlc.name = "w"}, %b: tensor<32xf32> {dlc.name = "b"},
                %a: tensor<48x64xf32> {dlc.name = "a"}, %c: tensor<64x40xf32> {dlc.name = "c"}, %d: tensor<40x24xf32> {dlc.name = "d"})
    -> (tensor<1x32x20x20xf32> {dlc.name = "y"}, tensor<48x24xf32> {dlc.name = "z"}) {
  %0 = dlc.conv %x, %w, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64}
      : (tensor<1x16x20x20xf32>, tensor<32x16x3x3xf32>, tensor<32xf32>) -> tensor<1x32x20x20xf32> loc("first/conv")
  %1 = dlc.relu %0 : (tensor<1x32x20x20xf32>) -> tensor<1x32x20x20xf32> loc("first/relu")
  %2 = dlc.matmul %a, %c : (tensor<48x64xf32>, tensor<64x40xf32>) -> tensor<48x40xf32> loc("second/product")
  %3 = dlc.relu %2 : (tensor<48x40xf32>) -> tensor<48x40xf32> loc("second/relu")
  %4 = dlc.matmul %3, %d : (tensor<48x40xf32>, tensor<40x24xf32>) -> tensor<48x24xf32> loc("third/product")
  return %1, %4 : tensor<1x32x20x20xf32>, tensor<48x24xf32>
}
