func.func @main(%x: tensor<2x4x9x8xf32> {dlc.name = "x"}, %w: tensor<6x4x3x3xf32> {dlc.name = "w"}, %v: tensor<6x6x3x3xf32> {dlc.name = "v"}, %b: tensor<6xf32> {dlc.name = "b"}) -> (tensor<2x6x9x8xf32> {dlc.name = "z"}, tensor<6x4x3x3xf32> {dlc.name = "dw"}, tensor<2x4x9x8xf32> {dlc.name = "dx"}) {
  %0 = dlc.conv %x, %w, %b {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<2x4x9x8xf32>, tensor<6x4x3x3xf32>, tensor<6xf32>) -> tensor<2x6x9x8xf32> loc("first")
  %1 = dlc.relu %0 : (tensor<2x6x9x8xf32>) -> tensor<2x6x9x8xf32> loc("act")
  %2 = dlc.conv %1, %v, %b {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<2x6x9x8xf32>, tensor<6x6x3x3xf32>, tensor<6xf32>) -> tensor<2x6x9x8xf32> loc("second")
  %3 = dlc.add %2, %1 : (tensor<2x6x9x8xf32>, tensor<2x6x9x8xf32>) -> tensor<2x6x9x8xf32> loc("residual")
  %4 = dlc.relu %3 : (tensor<2x6x9x8xf32>) -> tensor<2x6x9x8xf32> loc("last")
  %5 = dlc.conv_weight_grad %x, %4 {window = array<i64: 3, 3>, dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<2x4x9x8xf32>, tensor<2x6x9x8xf32>) -> tensor<6x4x3x3xf32> loc("weights")
  %6 = dlc.conv_transpose %4, %w {dilations = array<i64: 1, 1>, extra = array<i64: 0, 0>, groups = 1 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<2x6x9x8xf32>, tensor<6x4x3x3xf32>) -> tensor<2x4x9x8xf32> loc("data")
  return %4, %5, %6 : tensor<2x6x9x8xf32>, tensor<6x4x3x3xf32>, tensor<2x4x9x8xf32>
}
