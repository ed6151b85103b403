func.func @main(%q: tensor<2x9x4x16xf32> {dlc.name = "q"}, %k: tensor<2x7x4x16xf32> {dlc.name = "k"}) -> (tensor<2x9x4x16xf32> {dlc.name = "y"}, tensor<2x9x4x16xf32> {dlc.name = "z"}) {
  %0 = dlc.cast %q to bf16 : (tensor<2x9x4x16xf32>) -> tensor<2x9x4x16xbf16>
  %1 = dlc.cast %k to bf16 : (tensor<2x7x4x16xf32>) -> tensor<2x7x4x16xbf16>
  %2 = dlc.transpose %0 [0, 2, 1, 3] : (tensor<2x9x4x16xbf16>) -> tensor<2x4x9x16xbf16>
  %3 = dlc.transpose %1 [0, 2, 1, 3] : (tensor<2x7x4x16xbf16>) -> tensor<2x4x7x16xbf16>
  %4 = dlc.attention %2, %3, %3 {scale = 0.25 : f64} : (tensor<2x4x9x16xbf16>, tensor<2x4x7x16xbf16>, tensor<2x4x7x16xbf16>) -> tensor<2x4x9x16xbf16> loc("heads")
  %5 = dlc.transpose %4 [0, 2, 1, 3] : (tensor<2x4x9x16xbf16>) -> tensor<2x9x4x16xbf16>
  %6 = dlc.cast %5 to f32 : (tensor<2x9x4x16xbf16>) -> tensor<2x9x4x16xf32>
  %7 = dlc.attention %2, %3, %3 {causal, scale = 0.25 : f64} : (tensor<2x4x9x16xbf16>, tensor<2x4x7x16xbf16>, tensor<2x4x7x16xbf16>) -> tensor<2x4x9x16xbf16> loc("earlier")
  %8 = dlc.transpose %7 [0, 2, 1, 3] : (tensor<2x4x9x16xbf16>) -> tensor<2x9x4x16xbf16>
  %9 = dlc.cast %8 to f32 : (tensor<2x9x4x16xbf16>) -> tensor<2x9x4x16xf32>
  return %6, %9 : tensor<2x9x4x16xf32>, tensor<2x9x4x16xf32>
}
