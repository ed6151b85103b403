// RUN: dlc-opt %s --dlc-fuse --split-input-file | FileCheck %s

// Two sums that read the same operands are one kernel, with the computation of the summed values.
// CHECK-LABEL: @sums
// CHECK: dlc.fusion({{.*}}) : (tensor<4096x64xf32>, tensor<4096x64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>)
// CHECK: dlc.yield
// CHECK-NOT: dlc.fusion
func.func @sums(%dy: tensor<4096x64xf32>, %x: tensor<4096x64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>) {
  %a = dlc.reduce sum %dy axes [0] keepdims : (tensor<4096x64xf32>) -> tensor<1x64xf32>
  %m = dlc.mul %dy, %x : (tensor<4096x64xf32>, tensor<4096x64xf32>) -> tensor<4096x64xf32>
  %b = dlc.reduce sum %m axes [0] keepdims : (tensor<4096x64xf32>) -> tensor<1x64xf32>
  return %a, %b : tensor<1x64xf32>, tensor<1x64xf32>
}

// -----

// A gradient and its sum: one pass, two results.
// CHECK-LABEL: @bias
// CHECK: %[[F:.*]]:2 = dlc.fusion({{.*}}) : {{.*}} -> (tensor<4096x64xf32>, tensor<1x64xf32>)
// CHECK-NOT: dlc.fusion
// CHECK: dlc.topk %[[F]]#0
func.func @bias(%dy: tensor<4096x64xf32>, %y: tensor<4096x64xf32>) -> (tensor<4096x1xf32>, tensor<1x64xf32>) {
  %c = dlc.constant dense<1.0> : tensor<f32>
  %q = dlc.sub %c, %y : (tensor<f32>, tensor<4096x64xf32>) -> tensor<4096x64xf32>
  %p = dlc.mul %q, %y : (tensor<4096x64xf32>, tensor<4096x64xf32>) -> tensor<4096x64xf32>
  %g = dlc.mul %dy, %p : (tensor<4096x64xf32>, tensor<4096x64xf32>) -> tensor<4096x64xf32>
  %s = dlc.reduce sum %g axes [0] keepdims : (tensor<4096x64xf32>) -> tensor<1x64xf32>
  %v, %i = dlc.topk %g {k = 1 : i64, axis = 1 : i64} : (tensor<4096x64xf32>) -> (tensor<4096x1xf32>, tensor<4096x1xi64>)
  return %v, %s : tensor<4096x1xf32>, tensor<1x64xf32>
}

// -----

// Cross-entropy's loss and its gradient share the row's statistics: one kernel of rows.
// CHECK-LABEL: @cross_entropy
// CHECK: dlc.fusion({{.*}}) : (tensor<512x1000xf32>, tensor<512x1000xf32>) -> (tensor<512x1xf32>, tensor<512x1000xf32>)
// CHECK-COUNT-1: dlc.exp
// CHECK-NOT: dlc.exp
// CHECK: dlc.yield
// CHECK-NOT: dlc.fusion
func.func @cross_entropy(%x: tensor<512x1000xf32>, %t: tensor<512x1000xf32>) -> (tensor<512x1xf32>, tensor<512x1000xf32>) {
  %m = dlc.reduce max %x axes [1] keepdims : (tensor<512x1000xf32>) -> tensor<512x1xf32>
  %d = dlc.sub %x, %m : (tensor<512x1000xf32>, tensor<512x1xf32>) -> tensor<512x1000xf32>
  %e = dlc.exp %d : (tensor<512x1000xf32>) -> tensor<512x1000xf32>
  %s = dlc.reduce sum %e axes [1] keepdims : (tensor<512x1000xf32>) -> tensor<512x1xf32>
  %o = dlc.mul %d, %t : (tensor<512x1000xf32>, tensor<512x1000xf32>) -> tensor<512x1000xf32>
  %p = dlc.reduce sum %o axes [1] keepdims : (tensor<512x1000xf32>) -> tensor<512x1xf32>
  %l = dlc.log %s : (tensor<512x1xf32>) -> tensor<512x1xf32>
  %loss = dlc.sub %l, %p : (tensor<512x1xf32>, tensor<512x1xf32>) -> tensor<512x1xf32>
  %q = dlc.div %e, %s : (tensor<512x1000xf32>, tensor<512x1xf32>) -> tensor<512x1000xf32>
  %g = dlc.sub %q, %t : (tensor<512x1000xf32>, tensor<512x1000xf32>) -> tensor<512x1000xf32>
  return %loss, %g : tensor<512x1xf32>, tensor<512x1000xf32>
}

// -----

// The operand of batch statistics is read again by another kernel, since its rows are not contiguous.
// CHECK-LABEL: @batch_statistics
// CHECK: %[[M:.*]] = dlc.fusion({{.*}}) : (tensor<4096x64xf32>) -> tensor<1x64xf32>
// CHECK: dlc.fusion({{.*}} = %arg0, {{.*}} = %[[M]]) : {{.*}} -> tensor<4096x64xf32>
func.func @batch_statistics(%x: tensor<4096x64xf32>) -> tensor<4096x64xf32> {
  %m = dlc.reduce mean %x axes [0] keepdims : (tensor<4096x64xf32>) -> tensor<1x64xf32>
  %y = dlc.sub %x, %m : (tensor<4096x64xf32>, tensor<1x64xf32>) -> tensor<4096x64xf32>
  return %y : tensor<4096x64xf32>
}

// -----

// Sums along different dimensions, and a sum that depends on another one, are separate kernels.
// CHECK-LABEL: @unlike
// CHECK: dlc.fusion{{.*}} -> tensor<4096x1xf32>
// CHECK: dlc.fusion{{.*}} -> tensor<1x64xf32>
// CHECK: dlc.fusion{{.*}} -> tensor<1x64xf32>
func.func @unlike(%x: tensor<4096x64xf32>) -> (tensor<4096x1xf32>, tensor<1x64xf32>) {
  %a = dlc.reduce sum %x axes [1] keepdims : (tensor<4096x64xf32>) -> tensor<4096x1xf32>
  %b = dlc.reduce mean %x axes [0] keepdims : (tensor<4096x64xf32>) -> tensor<1x64xf32>
  %c = dlc.sub %x, %b : (tensor<4096x64xf32>, tensor<1x64xf32>) -> tensor<4096x64xf32>
  %q = dlc.mul %c, %c : (tensor<4096x64xf32>, tensor<4096x64xf32>) -> tensor<4096x64xf32>
  %v = dlc.reduce mean %q axes [0] keepdims : (tensor<4096x64xf32>) -> tensor<1x64xf32>
  return %a, %v : tensor<4096x1xf32>, tensor<1x64xf32>
}

// -----

// Two elementwise kernels over one large operand.
// CHECK-LABEL: @elementwise
// CHECK: dlc.fusion({{.*}}) : (tensor<4096x64xf32>) -> (tensor<4096x64xf32>, tensor<4096x64xf32>)
// CHECK-NOT: dlc.fusion
func.func @elementwise(%x: tensor<4096x64xf32>) -> (tensor<4096x64xf32>, tensor<4096x64xf32>) {
  %a = dlc.exp %x : (tensor<4096x64xf32>) -> tensor<4096x64xf32>
  %b = dlc.sigmoid %x : (tensor<4096x64xf32>) -> tensor<4096x64xf32>
  return %a, %b : tensor<4096x64xf32>, tensor<4096x64xf32>
}

// -----

// Not if one depends on the other through a third kernel.
// CHECK-LABEL: @waits
// CHECK: dlc.fusion{{.*}} -> tensor<4096x64xf32>
// CHECK: dlc.topk
// CHECK: dlc.fusion{{.*}} -> tensor<4096x64xf32>
func.func @waits(%x: tensor<4096x64xf32>) -> (tensor<4096x64xf32>) {
  %a = dlc.exp %x : (tensor<4096x64xf32>) -> tensor<4096x64xf32>
  %v, %i = dlc.topk %a {k = 1 : i64, axis = 1 : i64} : (tensor<4096x64xf32>) -> (tensor<4096x1xf32>, tensor<4096x1xi64>)
  %b = dlc.mul %x, %v : (tensor<4096x64xf32>, tensor<4096x1xf32>) -> tensor<4096x64xf32>
  return %b : tensor<4096x64xf32>
}
