// RUN: dlc-opt %s -dlc-grad -dlc-sync-batch-norm -split-input-file -verify-diagnostics | FileCheck %s

// Statistics of this rank's batch are averaged over all ranks for y, and so are the sums of the gradient. Gradients of scale and bias are those of this rank.
// CHECK-LABEL: @main
// CHECK: %{{.*}}, %[[M:.*]], %[[V:.*]] = dlc.batch_norm_train %arg0, %arg1, %arg2
// CHECK: %[[MW:.*]] = dlc.cast %[[M]] to f64 : (tensor<3xf32>) -> tensor<3xf64>
// CHECK: %[[VW:.*]] = dlc.cast %[[V]] to f64 : (tensor<3xf32>) -> tensor<3xf64>
// CHECK: %[[MM:.*]] = dlc.mul %[[MW]], %[[MW]]
// CHECK: %[[S:.*]] = dlc.add %[[VW]], %[[MM]]
// CHECK: %[[OWN:.*]] = dlc.concat 0(%[[MW]], %[[S]])
// CHECK: %[[ALL:.*]] = dlc.all_reduce mean %[[OWN]] : (tensor<6xf64>) -> tensor<6xf64>
// CHECK: %[[MEAN:.*]] = dlc.slice %[[ALL]] start [0] size [3]
// CHECK: %[[SQUARE:.*]] = dlc.slice %[[ALL]] start [3] size [3]
// CHECK: %[[D:.*]] = dlc.sub %[[SQUARE]]
// CHECK: dlc.max %[[D]]
// CHECK: %[[MEAN32:.*]] = dlc.cast %[[MEAN]] to f32 : (tensor<3xf64>) -> tensor<3xf32>
// CHECK: %[[VAR32:.*]] = dlc.cast %{{.*}} to f32 : (tensor<3xf64>) -> tensor<3xf32>
// CHECK: %[[Y:.*]] = dlc.batch_norm %arg0, %arg1, %arg2, %[[MEAN32]], %[[VAR32]]
// CHECK: %{{.*}}, %[[DSCALE:.*]], %[[DBIAS:.*]] = dlc.batch_norm_grad %arg0, %{{.*}}, %arg1, %[[MEAN32]], %[[VAR32]]
// CHECK-NOT: dlc.over_ranks
// CHECK: dlc.all_reduce mean %{{.*}} : (tensor<6xf64>) -> tensor<6xf64>
// A channel has 2 * 4 * 4 elements.
// CHECK: dense<-3.125000e-02>
// CHECK: return %[[Y]], %[[MEAN32]], %[[VAR32]], %{{.*}}, %[[DSCALE]], %[[DBIAS]]
func.func @main(%x: tensor<2x3x4x4xf32>, %scale: tensor<3xf32>, %bias: tensor<3xf32>, %s: tensor<2x3x4x4xf32>)
    -> (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>) {
  %y, %m, %v = dlc.batch_norm_train %x, %scale, %bias {eps = 1.0e-5 : f64, dlc.over_ranks = {layer = 0 : i64}} : (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>)
  %dx, %dscale, %dbias = dlc.gradient(%y) seeds(%s) in (%x, %scale, %bias) : (tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return %y, %m, %v, %dx, %dscale, %dbias : tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>
}
// -----
// This rank has two of four chunks: their statistics are gathered and added in a fixed order, before the first chunk is normalised.
// CHECK-LABEL: @chunks
// CHECK: dlc.batch_norm_train %arg0
// CHECK: dlc.batch_norm_train
// CHECK: %[[ALL:.*]] = dlc.all_gather %{{.*}} of 2 : (tensor<12xf64>) -> tensor<24xf64>
// CHECK: dlc.slice %[[ALL]] start [0] size [6]
// CHECK: dlc.slice %[[ALL]] start [6] size [6]
// CHECK: dlc.slice %[[ALL]] start [12] size [6]
// CHECK: dlc.slice %[[ALL]] start [18] size [6]
// CHECK-NOT: dlc.all_gather
// CHECK: dlc.batch_norm %arg0
// CHECK: dlc.batch_norm
func.func @chunks(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>, %scale: tensor<3xf32>, %bias: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %y, %m, %v = dlc.batch_norm_train %a, %scale, %bias {eps = 1.0e-5 : f64, dlc.over_ranks = {layer = 0 : i64, chunks = 4 : i64, ranks = 2 : i64}} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %c = dlc.neg %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %d = dlc.neg %b : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %z, %n, %w = dlc.batch_norm_train %d, %scale, %bias {eps = 1.0e-5 : f64, dlc.over_ranks = {layer = 0 : i64, chunks = 4 : i64, ranks = 2 : i64}} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %c, %z : tensor<2x3xf32>, tensor<2x3xf32>
}
// -----
// An unused gradient causes no communication.
// CHECK-LABEL: @unused
// CHECK: dlc.all_reduce
// CHECK: dlc.batch_norm_grad
// CHECK-NOT: dlc.all_reduce
func.func @unused(%x: tensor<2x3xf32>, %scale: tensor<3xf32>, %bias: tensor<3xf32>, %s: tensor<2x3xf32>) -> tensor<3xf32> {
  %y, %m, %v = dlc.batch_norm_train %x, %scale, %bias {eps = 1.0e-5 : f64, dlc.over_ranks = {layer = 0 : i64}} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %dscale = dlc.gradient(%y) seeds(%s) in (%scale) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %dscale : tensor<3xf32>
}
// -----
func.func @missing(%a: tensor<2x3xf32>, %scale: tensor<3xf32>, %bias: tensor<3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{its statistics cover 4 chunks of 2 ranks; required: one such batch norm for each chunk of this rank; found: 1}}
  %y, %m, %v = dlc.batch_norm_train %a, %scale, %bias {eps = 1.0e-5 : f64, dlc.over_ranks = {layer = 0 : i64, chunks = 4 : i64, ranks = 2 : i64}} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %y : tensor<2x3xf32>
}
// -----
func.func @statistics(%x: tensor<2x3xf32>, %scale: tensor<3xf32>, %bias: tensor<3xf32>, %s: tensor<3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{dlc.batch_norm_train over all ranks has no gradient of its statistics; leave them out of the loss}}
  %y, %m, %v = dlc.batch_norm_train %x, %scale, %bias {eps = 1.0e-5 : f64, dlc.over_ranks = {layer = 0 : i64}} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  // expected-note @+1 {{the gradient is requested here}}
  %dx = dlc.gradient(%m) seeds(%s) in (%x) : (tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %dx : tensor<2x3xf32>
}
