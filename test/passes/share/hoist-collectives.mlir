// RUN: dlc-opt %s -dlc-hoist-collectives | FileCheck %s
// Reduce-scatters and all-gathers directly follow the producer of their operand, with the views between the two.

// CHECK-LABEL: @main
// CHECK: %[[A:.*]] = dlc.neg %arg0
// CHECK-NEXT: dlc.exp
// CHECK-NEXT: %[[NONE:.*]] = dlc.constant
// CHECK-NEXT: %[[FLAT:.*]] = dlc.reshape
// CHECK-NEXT: %[[ALL:.*]] = dlc.concat 0(%[[FLAT]], %{{.*}}, %[[NONE]])
// CHECK-NEXT: dlc.reduce_scatter mean %[[ALL]] of 2
// CHECK-NEXT: dlc.tanh
// CHECK: dlc.neg
// CHECK-NEXT: dlc.all_gather
// CHECK-NEXT: dlc.sqrt
func.func @main(%x: tensor<2x3xf32>, %y: tensor<1xf32>) -> (tensor<4xf32>, tensor<8xf32>, tensor<2x3xf32>, tensor<1xf32>) {
  %a = dlc.neg %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = dlc.exp %y : (tensor<1xf32>) -> tensor<1xf32>
  %c = dlc.tanh %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %none = dlc.constant dense<0.0> : tensor<1xf32>
  %flat = dlc.reshape %a : (tensor<2x3xf32>) -> tensor<6xf32>
  %all = dlc.concat 0(%flat, %b, %none) : (tensor<6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<8xf32>
  %share = dlc.reduce_scatter mean %all of 2 : (tensor<8xf32>) -> tensor<4xf32>
  %new = dlc.neg %share : (tensor<4xf32>) -> tensor<4xf32>
  %d = dlc.sqrt %y : (tensor<1xf32>) -> tensor<1xf32>
  %gathered = dlc.all_gather %new of 2 : (tensor<4xf32>) -> tensor<8xf32>
  return %new, %gathered, %c, %d : tensor<4xf32>, tensor<8xf32>, tensor<2x3xf32>, tensor<1xf32>
}

// A value that is exchanged in another type is cast before and after.
// CHECK-LABEL: @casts
// CHECK: dlc.neg
// CHECK-NEXT: dlc.cast
// CHECK-NEXT: dlc.reduce_scatter mean {{.*}} : (tensor<4xbf16>) -> tensor<2xbf16>
// CHECK-NEXT: dlc.tanh
func.func @casts(%x: tensor<4xf32>) -> (tensor<2xbf16>, tensor<4xf32>) {
  %a = dlc.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = dlc.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  %half = dlc.cast %a to bf16 : (tensor<4xf32>) -> tensor<4xbf16>
  %share = dlc.reduce_scatter mean %half of 2 : (tensor<4xbf16>) -> tensor<2xbf16>
  return %share, %b : tensor<2xbf16>, tensor<4xf32>
}
