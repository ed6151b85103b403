// Convolutions: channels-last, groups, dilated operands, reversed windows, negative padding, groups of the batch, and the gradient in the weights.
// REQUIRES: dlc
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/arrays.py %t x='f32(arange(9).reshape(1, 3, 3, 1))' w='f32([[1, 2], [3, 4]]).reshape(2, 2, 1, 1)' s='f32(arange(8).reshape(2, 2, 2))' v='f32([[1, 2], [10, 20]]).reshape(2, 1, 2)'
// RUN: dlc run %s --input x=%t/x.npy --input w=%t/w.npy --input s=%t/s.npy --input v=%t/v.npy --output-dir %t/out > %t/log
// RUN: %python %S/Inputs/show.py %t/out | FileCheck %s
// CHECK: batch_groups float32 [1, 2, 1]: 20 148
// CHECK-NEXT: cropped float32 [1, 1, 1, 1]: 57
// CHECK-NEXT: dilated float32 [1, 6, 6, 1]: 0 0 4 3 8 6 0 0 2 1 4 2 12 9 16 12 20 15 6 3 8 4 10 5 24 18 28 21 32 24 12 6 14 7 16 8
// CHECK-NEXT: groups float32 [2, 2, 1]: 2 80 14 200
// CHECK-NEXT: plain float32 [1, 2, 2, 1]: 27 37 57 67
// CHECK-NEXT: reversed float32 [1, 2, 2, 1]: 13 23 43 53
// CHECK-NEXT: weights float32 [2, 2, 1, 1]: 100 70 204 132
func.func @main(%x: tensor<1x3x3x1xf32> {dlc.name = "x"}, %w: tensor<2x2x1x1xf32> {dlc.name = "w"}, %s: tensor<2x2x2xf32> {dlc.name = "s"},
                %v: tensor<2x1x2xf32> {dlc.name = "v"})
    -> (tensor<1x2x2x1xf32> {dlc.name = "plain"}, tensor<1x2x2x1xf32> {dlc.name = "reversed"}, tensor<1x6x6x1xf32> {dlc.name = "dilated"},
        tensor<1x1x1x1xf32> {dlc.name = "cropped"}, tensor<2x2x1xf32> {dlc.name = "groups"}, tensor<1x2x1xf32> {dlc.name = "batch_groups"},
        tensor<2x2x1x1xf32> {dlc.name = "weights"}) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x3x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x2x1xf32>
  %1 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {reverse = [true, true]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x3x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x2x1xf32>
  %2 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {pad = [[1, 1], [1, 1]], lhs_dilate = [2, 2]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x3x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x6x6x1xf32>
  %3 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[-1, 0], [0, -1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x3x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x1x1x1xf32>
  %4 = stablehlo.convolution(%s, %v) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x2x2xf32>, tensor<2x1x2xf32>) -> tensor<2x2x1xf32>
  %wide = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]> : tensor<2x2x2xf32>
  %5 = stablehlo.convolution(%s, %wide) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {}
      {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<1x2x1xf32>
  // The window is larger than the result.
  %6 = stablehlo.convolution(%x, %x) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 0], [0, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x3x1xf32>, tensor<1x3x3x1xf32>) -> tensor<2x2x1x1xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>, tensor<1x6x6x1xf32>, tensor<1x1x1x1xf32>, tensor<2x2x1xf32>,
      tensor<1x2x1xf32>, tensor<2x2x1x1xf32>
}
