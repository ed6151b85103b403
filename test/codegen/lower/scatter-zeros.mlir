// A scatter into zeros initializes them itself, without a constant that is read and copied.
// RUN: dlc-opt %s -dlc-place -dlc-decompose -dlc-fuse -dlc-select='threads=1' -dlc-lower='threads=1' | FileCheck %s
// RUN: %python -c "import numpy; numpy.save('%t.i.npy', numpy.array([[1], [3], [1]])); numpy.save('%t.u.npy', numpy.arange(12, dtype='f4').reshape(3, 4))"
// RUN: dlc run %s --cache none --input i=%t.i.npy --input u=%t.u.npy --output-dir %t.out
// RUN: %python -c "import numpy; u = numpy.load('%t.u.npy'); w = numpy.zeros((64, 4), 'f4'); numpy.add.at(w, [1, 3, 1], u); assert (numpy.load('%t.out/y.npy') == w).all()"
// REQUIRES: dlc

// CHECK-NOT: exec.constant
// CHECK: exec.library
// CHECK-SAME: zeros
func.func @main(%i: tensor<3x1xi64> {dlc.name = "i"}, %u: tensor<3x4xf32> {dlc.name = "u"}) -> (tensor<64x4xf32> {dlc.name = "y"}) {
  %zero = dlc.constant dense<0.0> : tensor<64x4xf32>
  %y = dlc.scatter_nd add %zero, %i, %u : (tensor<64x4xf32>, tensor<3x1xi64>, tensor<3x4xf32>) -> tensor<64x4xf32>
  return %y : tensor<64x4xf32>
}
