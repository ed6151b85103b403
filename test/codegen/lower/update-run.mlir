// A matmul that updates state in place gives the same result as a separate kernel, after all reads of the old value.
// RUN: %python -c "import numpy; numpy.save('%t.x.npy', numpy.full((8, 96), 0.25, 'f4')); numpy.save('%t.dy.npy', numpy.full((8, 48), 0.5, 'f4'))"
// RUN: dlc run %s --cache none --kernels onednn --input x=%t.x.npy --input dy=%t.dy.npy --output-dir %t.onednn
// RUN: dlc run %s --cache none --kernels contract --input x=%t.x.npy --input dy=%t.dy.npy --output-dir %t.contract
// RUN: dlc run %s --cache none --kernels rows --input x=%t.x.npy --input dy=%t.dy.npy --output-dir %t.rows
// RUN: %python %S/Inputs/updates.py %t.onednn %t.contract %t.rows
// REQUIRES: dlc
func.func @main(%w: tensor<96x48xf32> {dlc.name = "w", dlc.state, dlc.init = dense<2.0> : tensor<96x48xf32>}, %m: tensor<96x48xf32> {dlc.name = "m", dlc.state, dlc.init = dense<4.0> : tensor<96x48xf32>},
                %x: tensor<8x96xf32> {dlc.name = "x"}, %dy: tensor<8x48xf32> {dlc.name = "dy"})
    -> (tensor<96x48xf32> {dlc.name = "w", dlc.state}, tensor<96x48xf32> {dlc.name = "m", dlc.state}, tensor<8x48xf32> {dlc.name = "y"}, tensor<8x48xf32> {dlc.name = "z"}) {
  %lr = dlc.constant dense<0.5> : tensor<f32>
  %mu = dlc.constant dense<0.75> : tensor<f32>
  %y = dlc.matmul %x, %w : (tensor<8x96xf32>, tensor<96x48xf32>) -> tensor<8x48xf32>
  %0 = dlc.matmul %x, %dy transpose_a : (tensor<8x96xf32>, tensor<8x48xf32>) -> tensor<96x48xf32>
  %1 = dlc.mul %0, %lr : (tensor<96x48xf32>, tensor<f32>) -> tensor<96x48xf32>
  %2 = dlc.sub %w, %1 : (tensor<96x48xf32>, tensor<96x48xf32>) -> tensor<96x48xf32>
  %3 = dlc.add %x, %x : (tensor<8x96xf32>, tensor<8x96xf32>) -> tensor<8x96xf32>
  %4 = dlc.matmul %3, %dy transpose_a : (tensor<8x96xf32>, tensor<8x48xf32>) -> tensor<96x48xf32>
  %5 = dlc.mul %m, %mu : (tensor<96x48xf32>, tensor<f32>) -> tensor<96x48xf32>
  %6 = dlc.add %5, %4 : (tensor<96x48xf32>, tensor<96x48xf32>) -> tensor<96x48xf32>
  %a = dlc.matmul %x, %2 : (tensor<8x96xf32>, tensor<96x48xf32>) -> tensor<8x48xf32>
  %b = dlc.matmul %x, %6 : (tensor<8x96xf32>, tensor<96x48xf32>) -> tensor<8x48xf32>
  %z = dlc.add %a, %b : (tensor<8x48xf32>, tensor<8x48xf32>) -> tensor<8x48xf32>
  return %2, %6, %y, %z : tensor<96x48xf32>, tensor<96x48xf32>, tensor<8x48xf32>, tensor<8x48xf32>
}
