// q, k and v in one parameter of three blocks, a preceding convolution, and the maximum and the mean of a split value; with gradients.
func.func @main(%x: tensor<2x3x4x4xf32> {dlc.name = "x"}, %c: tensor<8x3x3x3xf32> {dlc.name = "conv", dlc.parameter},
                %d: tensor<8x8x1x1xf32> {dlc.name = "next", dlc.parameter}, %cb: tensor<8xf32> {dlc.name = "conv.bias", dlc.parameter},
                %db: tensor<8xf32> {dlc.name = "next.bias", dlc.parameter}, %w: tensor<8x24xf32> {dlc.name = "qkv.weight", dlc.parameter},
                %b: tensor<24xf32> {dlc.name = "qkv.bias", dlc.parameter}, %wo: tensor<8x8xf32> {dlc.name = "out.weight", dlc.parameter},
                %seed: tensor<2x16x8xf32> {dlc.name = "seed"})
    -> (tensor<2x16x8xf32>, tensor<f32>, tensor<f32>, tensor<8x3x3x3xf32>, tensor<8x8x1x1xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %c0 = dlc.conv %x, %c, %cb {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x3x4x4xf32>, tensor<8x3x3x3xf32>, tensor<8xf32>) -> tensor<2x8x4x4xf32>
  %c1 = dlc.relu %c0 : (tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
  %c2 = dlc.conv %c1, %d, %db {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<2x8x4x4xf32>, tensor<8x8x1x1xf32>, tensor<8xf32>) -> tensor<2x8x4x4xf32>
  %c3 = dlc.reshape %c2 : (tensor<2x8x4x4xf32>) -> tensor<2x8x16xf32>
  %t = dlc.transpose %c3 [0, 2, 1] : (tensor<2x8x16xf32>) -> tensor<2x16x8xf32>
  %p0 = dlc.matmul %t, %w : (tensor<2x16x8xf32>, tensor<8x24xf32>) -> tensor<2x16x24xf32>
  %p = dlc.add %p0, %b : (tensor<2x16x24xf32>, tensor<24xf32>) -> tensor<2x16x24xf32>
  %q0 = dlc.slice %p start [0, 0, 0] size [2, 16, 8] stride [1, 1, 1] : (tensor<2x16x24xf32>) -> tensor<2x16x8xf32>
  %k0 = dlc.slice %p start [0, 0, 8] size [2, 16, 8] stride [1, 1, 1] : (tensor<2x16x24xf32>) -> tensor<2x16x8xf32>
  %v0 = dlc.slice %p start [0, 0, 16] size [2, 16, 8] stride [1, 1, 1] : (tensor<2x16x24xf32>) -> tensor<2x16x8xf32>
  %q1 = dlc.reshape %q0 : (tensor<2x16x8xf32>) -> tensor<2x16x4x2xf32>
  %k1 = dlc.reshape %k0 : (tensor<2x16x8xf32>) -> tensor<2x16x4x2xf32>
  %v1 = dlc.reshape %v0 : (tensor<2x16x8xf32>) -> tensor<2x16x4x2xf32>
  %q = dlc.transpose %q1 [0, 2, 1, 3] : (tensor<2x16x4x2xf32>) -> tensor<2x4x16x2xf32>
  %k = dlc.transpose %k1 [0, 2, 3, 1] : (tensor<2x16x4x2xf32>) -> tensor<2x4x2x16xf32>
  %v = dlc.transpose %v1 [0, 2, 1, 3] : (tensor<2x16x4x2xf32>) -> tensor<2x4x16x2xf32>
  %s = dlc.matmul %q, %k : (tensor<2x4x16x2xf32>, tensor<2x4x2x16xf32>) -> tensor<2x4x16x16xf32>
  %r = dlc.softmax %s {axis = 3 : i64} : (tensor<2x4x16x16xf32>) -> tensor<2x4x16x16xf32>
  %a0 = dlc.matmul %r, %v : (tensor<2x4x16x16xf32>, tensor<2x4x16x2xf32>) -> tensor<2x4x16x2xf32>
  %a1 = dlc.transpose %a0 [0, 2, 1, 3] : (tensor<2x4x16x2xf32>) -> tensor<2x16x4x2xf32>
  %a = dlc.reshape %a1 : (tensor<2x16x4x2xf32>) -> tensor<2x16x8xf32>
  %y = dlc.matmul %a, %wo : (tensor<2x16x8xf32>, tensor<8x8xf32>) -> tensor<2x16x8xf32>
  %largest = dlc.reduce max %a axes [0, 1, 2] : (tensor<2x16x8xf32>) -> tensor<f32>
  %mean = dlc.reduce mean %p axes [0, 1, 2] : (tensor<2x16x24xf32>) -> tensor<f32>
  %g:7 = dlc.gradient(%y) seeds(%seed) in (%c, %d, %w, %b, %wo, %cb, %db) : (tensor<2x16x8xf32>, tensor<2x16x8xf32>, tensor<8x3x3x3xf32>, tensor<8x8x1x1xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>)
    -> (tensor<8x3x3x3xf32>, tensor<8x8x1x1xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %y, %largest, %mean, %g#0, %g#1, %g#2, %g#3, %g#4, %g#5, %g#6 : tensor<2x16x8xf32>, tensor<f32>, tensor<f32>, tensor<8x3x3x3xf32>, tensor<8x8x1x1xf32>, tensor<8x24xf32>, tensor<24xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
}
