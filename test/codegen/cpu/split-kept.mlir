// A reduction over a batch is split into work units (schedule parts) even if the fusion has other values of the reduced shape: the second
// kernel computes a factor that is not a reduction.
// RUN: dlc-opt %s -dlc-place -dlc-decompose -dlc-fuse -dlc-select='threads=1' -dlc-lower='threads=1 vector-bits=512' | FileCheck %s

// CHECK: exec.kernel @[[FIRST:k[0-9]+_sub_reduce[a-z_]*]] attributes {schedule = "parts"}
// CHECK: exec.kernel @k{{[0-9]+}}_reduce
// CHECK: dlc.rsqrt
// CHECK: exec.launch @[[FIRST]]({{.*}} extent 16 grain
func.func @main(%x: tensor<8192x16xf32>, %v: tensor<1x16xf32>) -> (tensor<1x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>) {
  %first = dlc.slice %x start [0, 0] size [1, 16] stride [1, 1] : (tensor<8192x16xf32>) -> tensor<1x16xf32>
  %d = dlc.sub %x, %first : (tensor<8192x16xf32>, tensor<1x16xf32>) -> tensor<8192x16xf32>
  %s = dlc.reduce sum %d axes [0] keepdims : (tensor<8192x16xf32>) -> tensor<1x16xf32>
  %e = dlc.add %v, %v : (tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<1x16xf32>
  %r = dlc.rsqrt %e : (tensor<1x16xf32>) -> tensor<1x16xf32>
  %m = dlc.mul %r, %s : (tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<1x16xf32>
  return %m, %r, %first : tensor<1x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>
}
