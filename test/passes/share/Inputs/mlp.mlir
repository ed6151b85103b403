// A perceptron with dropout and position-dependent weights of its hidden values: each rank takes its part of unsplit values.
func.func @main(%x: tensor<4x8xf32> {dlc.name = "x"}, %w1: tensor<8x16xf32> {dlc.name = "fc1.weight", dlc.parameter}, %w2: tensor<16x8xf32> {dlc.name = "fc2.weight", dlc.parameter}, %b: tensor<16xf32> {dlc.name = "b", dlc.parameter}, %c: tensor<i64> {dlc.name = "c", dlc.classes = 9 : i64}) -> (tensor<4x8xf32>, tensor<8x16xf32>, tensor<16xf32>, tensor<4xi64>) {
  %0 = dlc.matmul %x, %w1 : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = dlc.add %0, %b : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %r = dlc.random uniform %c seed 5 : (tensor<i64>) -> tensor<4x16xf32>
  %p = dlc.constant dense<0.5> : tensor<f32>
  %z = dlc.constant dense<0.0> : tensor<f32>
  %m = dlc.compare lt %r, %p : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xi1>
  %2 = dlc.select %m, %1, %z : (tensor<4x16xi1>, tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %i = dlc.iota 1 : tensor<4x16xi64>
  %f = dlc.cast %i to f32 : (tensor<4x16xi64>) -> tensor<4x16xf32>
  %3 = dlc.mul %2, %f : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %y = dlc.matmul %3, %w2 : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %s = dlc.mul %y, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %l = dlc.reduce sum %s axes [0, 1] : (tensor<4x8xf32>) -> tensor<f32>
  %g:2 = dlc.gradient(%l) in (%w1, %b) : (tensor<f32>, tensor<8x16xf32>, tensor<16xf32>) -> (tensor<8x16xf32>, tensor<16xf32>)
  %a = dlc.arg_reduce max %y axis 1 : (tensor<4x8xf32>) -> tensor<4xi64>
  return %y, %g#0, %g#1, %a : tensor<4x8xf32>, tensor<8x16xf32>, tensor<16xf32>, tensor<4xi64>
}
