// A branch that joins again, a convolution that is cheaper than the reorder of its operand, and one that reads plain images.
func.func @main(%x: tensor<1x3x48x48xf32> {dlc.name = "x"}, %w: tensor<64x3x3x3xf32> {dlc.name = "w"}, %s: tensor<64x64x1x1xf32> {dlc.name = "s"},
                %v: tensor<64x64x3x3xf32> {dlc.name = "v"}) -> (tensor<1x64x24x24xf32> {dlc.name = "y"}) {
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64}
      : (tensor<1x3x48x48xf32>, tensor<64x3x3x3xf32>) -> tensor<1x64x48x48xf32> loc("first")
  %1 = dlc.max_pool %0 {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<1x64x48x48xf32>) -> tensor<1x64x24x24xf32>
  %2 = dlc.reduce mean %1 axes [2, 3] keepdims : (tensor<1x64x24x24xf32>) -> tensor<1x64x1x1xf32>
  %3 = dlc.conv %2, %s {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64}
      : (tensor<1x64x1x1xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x1x1xf32> loc("tiny")
  %4 = dlc.mul %1, %3 : (tensor<1x64x24x24xf32>, tensor<1x64x1x1xf32>) -> tensor<1x64x24x24xf32>
  %5 = dlc.conv %4, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64}
      : (tensor<1x64x24x24xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x24x24xf32> loc("last")
  %6 = dlc.add %5, %1 : (tensor<1x64x24x24xf32>, tensor<1x64x24x24xf32>) -> tensor<1x64x24x24xf32>
  return %6 : tensor<1x64x24x24xf32>
}
