// A result that is stored together with the terms of a sum over strips of columns may reuse the buffer of an operand that is last read here.
// RUN: dlc-opt %s -dlc-place -dlc-decompose -dlc-fuse -dlc-select='threads=1' -dlc-lower='threads=1' | FileCheck %s
// RUN: %python -c "import numpy; x = numpy.arange(64 * 2048).reshape(64, 2048) % 13 - 6; numpy.save('%t.x.npy', x.astype('f4')); numpy.save('%t.w.npy', 2 * numpy.eye(2048, dtype='f4'))"
// RUN: dlc run %s --cache none --input x=%t.x.npy --input w=%t.w.npy --output-dir %t.out
// RUN: %python -c "import numpy; x = numpy.load('%t.x.npy'); e = numpy.maximum(2 * x, 0); load = lambda name: numpy.load('%t.out/' + name + '.npy'); assert (load('z') == 2 * e).all(); assert (load('s') == e.sum(0)).all(); assert (load('q') == (2 * x * e).sum(0)).all()"
// REQUIRES: dlc

// CHECK-NOT: schedule = "parts"
// CHECK: exec.launch @{{.*}}_reduce{{.*}}(
// CHECK-SAME: writes [1, 2, 3] inplace [1, 0] extent 8
func.func @main(%x: tensor<64x2048xf32> {dlc.name = "x"}, %w: tensor<2048x2048xf32> {dlc.name = "w"})
    -> (tensor<64x2048xf32> {dlc.name = "z"}, tensor<2048xf32> {dlc.name = "s"}, tensor<2048xf32> {dlc.name = "q"}) {
  %zero = dlc.constant dense<0.0> : tensor<f32>
  %a = dlc.matmul %x, %w : (tensor<64x2048xf32>, tensor<2048x2048xf32>) -> tensor<64x2048xf32>
  %m = dlc.compare gt %a, %zero : (tensor<64x2048xf32>, tensor<f32>) -> tensor<64x2048xi1>
  %e = dlc.select %m, %a, %zero : (tensor<64x2048xi1>, tensor<64x2048xf32>, tensor<f32>) -> tensor<64x2048xf32>
  %s = dlc.reduce sum %e axes [0] : (tensor<64x2048xf32>) -> tensor<2048xf32>
  %p = dlc.mul %a, %e : (tensor<64x2048xf32>, tensor<64x2048xf32>) -> tensor<64x2048xf32>
  %q = dlc.reduce sum %p axes [0] : (tensor<64x2048xf32>) -> tensor<2048xf32>
  %z = dlc.matmul %e, %w : (tensor<64x2048xf32>, tensor<2048x2048xf32>) -> tensor<64x2048xf32>
  return %z, %s, %q : tensor<64x2048xf32>, tensor<2048xf32>, tensor<2048xf32>
}
