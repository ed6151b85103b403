// RUN: dlc-opt %s --dlc-fuse --split-input-file | FileCheck %s

// Biases of one size are updated by one kernel; each other size and each large parameter has a separate kernel.
// CHECK-LABEL: @sgd
// CHECK-DAG: dlc.fusion{{.*}} -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)
// CHECK-DAG: dlc.fusion{{.*}} -> tensor<32xf32>
// CHECK-DAG: dlc.fusion{{.*}} -> tensor<100000xf32>
// CHECK: return
func.func @sgd(%a: tensor<64xf32> {dlc.name = "a", dlc.state}, %b: tensor<64xf32> {dlc.name = "b", dlc.state}, %c: tensor<64xf32> {dlc.name = "c", dlc.state},
               %d: tensor<32xf32> {dlc.name = "d", dlc.state}, %e: tensor<100000xf32> {dlc.name = "e", dlc.state}, %f: tensor<100000xf32> {dlc.name = "f", dlc.state},
               %ga: tensor<64xf32>, %gb: tensor<64xf32>, %gc: tensor<64xf32>, %gd: tensor<32xf32>, %ge: tensor<100000xf32>, %gf: tensor<100000xf32>)
    -> (tensor<64xf32> {dlc.name = "a", dlc.state}, tensor<64xf32> {dlc.name = "b", dlc.state}, tensor<64xf32> {dlc.name = "c", dlc.state},
        tensor<32xf32> {dlc.name = "d", dlc.state}, tensor<100000xf32> {dlc.name = "e", dlc.state}, tensor<100000xf32> {dlc.name = "f", dlc.state}) {
  %lr = dlc.constant dense<0.1> : tensor<f32>
  %0 = dlc.mul %ga, %lr : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %1 = dlc.sub %a, %0 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %2 = dlc.mul %gb, %lr : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %3 = dlc.sub %b, %2 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %4 = dlc.mul %gc, %lr : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %5 = dlc.sub %c, %4 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %6 = dlc.mul %gd, %lr : (tensor<32xf32>, tensor<f32>) -> tensor<32xf32>
  %7 = dlc.sub %d, %6 : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %8 = dlc.mul %ge, %lr : (tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %9 = dlc.sub %e, %8 : (tensor<100000xf32>, tensor<100000xf32>) -> tensor<100000xf32>
  %10 = dlc.mul %gf, %lr : (tensor<100000xf32>, tensor<f32>) -> tensor<100000xf32>
  %11 = dlc.sub %f, %10 : (tensor<100000xf32>, tensor<100000xf32>) -> tensor<100000xf32>
  return %1, %3, %5, %7, %9, %11 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<32xf32>, tensor<100000xf32>, tensor<100000xf32>
}

// -----

// An update that depends on another one is not merged with it.
// CHECK-LABEL: @chain
// CHECK-COUNT-2: dlc.fusion
func.func @chain(%a: tensor<64xf32> {dlc.name = "a", dlc.state}, %b: tensor<64xf32> {dlc.name = "b", dlc.state}, %g: tensor<64xf32>, %w: tensor<64x64xf32>)
    -> (tensor<64xf32> {dlc.name = "a", dlc.state}, tensor<64xf32> {dlc.name = "b", dlc.state}) {
  %0 = dlc.sub %a, %g : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %r = dlc.reshape %0 : (tensor<64xf32>) -> tensor<1x64xf32>
  %m = dlc.matmul %r, %w : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
  %s = dlc.reshape %m : (tensor<1x64xf32>) -> tensor<64xf32>
  %1 = dlc.sub %b, %s : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %0, %1 : tensor<64xf32>, tensor<64xf32>
}

// -----

// The clipping factor is computed in the kernel.
// CHECK-LABEL: @clipped
// CHECK: dlc.fusion{{.*}} -> (tensor<64xf32>, tensor<64xf32>)
// CHECK-NOT: dlc.fusion
func.func @clipped(%a: tensor<64xf32> {dlc.name = "a", dlc.state}, %b: tensor<64xf32> {dlc.name = "b", dlc.state}, %ga: tensor<64xf32>, %gb: tensor<64xf32>, %n: tensor<f32>)
    -> (tensor<64xf32> {dlc.name = "a", dlc.state}, tensor<64xf32> {dlc.name = "b", dlc.state}) {
  %one = dlc.constant dense<1.0> : tensor<f32>
  %c = dlc.min %n, %one : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %0 = dlc.mul %ga, %c : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %1 = dlc.sub %a, %0 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %2 = dlc.mul %gb, %c : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %3 = dlc.sub %b, %2 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %1, %3 : tensor<64xf32>, tensor<64xf32>
}

// -----

// On a GPU, launches are saved in the same way.
// CHECK-LABEL: @gpu
// CHECK: dlc.fusion{{.*}} -> (tensor<64xf32, #dlc.on<cuda:0>>, tensor<64xf32, #dlc.on<cuda:0>>)
// CHECK-NOT: dlc.fusion
func.func @gpu(%a: tensor<64xf32, #dlc.on<cuda:0>> {dlc.name = "a", dlc.state}, %b: tensor<64xf32, #dlc.on<cuda:0>> {dlc.name = "b", dlc.state}, %g: tensor<64xf32, #dlc.on<cuda:0>>, %h: tensor<64xf32, #dlc.on<cuda:0>>)
    -> (tensor<64xf32, #dlc.on<cuda:0>> {dlc.name = "a", dlc.state}, tensor<64xf32, #dlc.on<cuda:0>> {dlc.name = "b", dlc.state}) {
  %0 = dlc.sub %a, %g : (tensor<64xf32, #dlc.on<cuda:0>>, tensor<64xf32, #dlc.on<cuda:0>>) -> tensor<64xf32, #dlc.on<cuda:0>>
  %1 = dlc.sub %b, %h : (tensor<64xf32, #dlc.on<cuda:0>>, tensor<64xf32, #dlc.on<cuda:0>>) -> tensor<64xf32, #dlc.on<cuda:0>>
  return %0, %1 : tensor<64xf32, #dlc.on<cuda:0>>, tensor<64xf32, #dlc.on<cuda:0>>
}
