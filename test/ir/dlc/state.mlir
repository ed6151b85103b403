// State of a training step: valid attributes of functions.
// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK: func.func @main(%{{.*}}: tensor<2xf32> {dlc.init = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>, dlc.name = "w", dlc.parameter, dlc.state}
// CHECK-SAME: %{{.*}}: tensor<i64> {dlc.name = "step", dlc.state}, %{{.*}}: tensor<2xf32> {dlc.name = "x"})
// CHECK-SAME: -> (tensor<2xf32> {dlc.name = "w", dlc.state}, tensor<2xf32> {dlc.name = "loss"})
func.func @main(%w: tensor<2xf32> {dlc.name = "w", dlc.parameter, dlc.state, dlc.init = dense<[1.0, 2.0]> : tensor<2xf32>},
                %n: tensor<i64> {dlc.name = "step", dlc.state}, %x: tensor<2xf32> {dlc.name = "x"})
    -> (tensor<2xf32> {dlc.name = "w", dlc.state}, tensor<2xf32> {dlc.name = "loss"}) {
  %0 = dlc.add %w, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0, %x : tensor<2xf32>, tensor<2xf32>
}

// A value of an unplaced type for a placed argument: CHECK: func.func @placed
func.func @placed(%w: tensor<2xf32, #dlc.on<cpu>> {dlc.name = "w", dlc.state, dlc.init = dense<1.0> : tensor<2xf32>}) {
  return
}
