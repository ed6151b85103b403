func.func @main(%q: tensor<2x9x4x16xf32> {dlc.name = "q"}, %k: tensor<2x7x4x16xf32> {dlc.name = "k"}) -> (tensor<f32> {dlc.name = "loss"}, tensor<2x9x4x16xf32> {dlc.name = "dq"}, tensor<2x7x4x16xf32> {dlc.name = "dk"}) {
  %0 = dlc.transpose %q [0, 2, 1, 3] : (tensor<2x9x4x16xf32>) -> tensor<2x4x9x16xf32>
  %1 = dlc.transpose %k [0, 2, 1, 3] : (tensor<2x7x4x16xf32>) -> tensor<2x4x7x16xf32>
  %2 = dlc.attention %0, %1, %1 {causal, scale = 0.25 : f64} : (tensor<2x4x9x16xf32>, tensor<2x4x7x16xf32>, tensor<2x4x7x16xf32>) -> tensor<2x4x9x16xf32>
  %3 = dlc.transpose %2 [0, 2, 1, 3] : (tensor<2x4x9x16xf32>) -> tensor<2x9x4x16xf32>
  %4 = dlc.mul %3, %3 : (tensor<2x9x4x16xf32>, tensor<2x9x4x16xf32>) -> tensor<2x9x4x16xf32>
  %5 = dlc.reduce sum %4 axes [0, 1, 2, 3] : (tensor<2x9x4x16xf32>) -> tensor<f32>
  %6:2 = dlc.gradient(%5) in (%q, %k) : (tensor<f32>, tensor<2x9x4x16xf32>, tensor<2x7x4x16xf32>) -> (tensor<2x9x4x16xf32>, tensor<2x7x4x16xf32>)
  return %5, %6#0, %6#1 : tensor<f32>, tensor<2x9x4x16xf32>, tensor<2x7x4x16xf32>
}
