// Two convolutions of different names, each with a batch norm.
func.func @main(%x: tensor<1x4x8x8xf32> {dlc.name = "x"}) -> (tensor<1x4x8x8xf32> {dlc.name = "y"}) {
  %w = dlc.constant dense<0.5> : tensor<4x4x1x1xf32>
  %scale = dlc.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %zero = dlc.constant dense<0.0> : tensor<4xf32>
  %one = dlc.constant dense<1.0> : tensor<4xf32>
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32> loc("first/conv")
  %1 = dlc.batch_norm %0, %scale, %zero, %zero, %one {eps = 0.0 : f64} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32> loc("first/norm")
  %2 = dlc.relu %1 : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %3 = dlc.conv %2, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32> loc("second/conv")
  %4 = dlc.batch_norm %3, %scale, %zero, %zero, %one {eps = 0.0 : f64} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32> loc("second/norm")
  return %4 : tensor<1x4x8x8xf32>
}
