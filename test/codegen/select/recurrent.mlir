// Small sequential steps of a recurrent layer run on one thread; larger ones use all threads.
// RUN: dlc-opt %s -dlc-place -dlc-select='threads=2 profile=zen5' | FileCheck %s
// RUN: dlc-opt %s -dlc-place -dlc-select='threads=1 profile=zen5' | FileCheck %s --check-prefix=ONE
// RUN: dlc-opt %s -dlc-place -dlc-select='threads=2 profile=zen5' -dlc-lower='threads=2' | FileCheck %s --check-prefix=LOWERED

// CHECK: dlc.parameters = {alone, implementation
// CHECK-SAME: tensor<5x1x64xf32
// CHECK: dlc.parameters = {implementation
// CHECK-SAME: tensor<5x1x256xf32
// ONE-NOT: {alone
// LOWERED: \22alone\22:true
// LOWERED-NOT: alone
func.func @main(%x: tensor<5x1x64xf32>, %h: tensor<1x1x64xf32>, %x1: tensor<5x1x256xf32>, %h1: tensor<1x1x256xf32>) -> (tensor<5x1x1x64xf32>, tensor<5x1x1x256xf32>) {
  %w = dlc.constant dense<0.5> : tensor<1x192x64xf32>
  %b = dlc.constant dense<0.125> : tensor<1x384xf32>
  %w1 = dlc.constant dense<0.5> : tensor<1x768x256xf32>
  %b1 = dlc.constant dense<0.125> : tensor<1x1536xf32>
  %y, %n = dlc.gru %x, %w, %w, %b, %h {direction = #dlc<direction forward>, linear_before_reset} : (tensor<5x1x64xf32>, tensor<1x192x64xf32>, tensor<1x192x64xf32>, tensor<1x384xf32>, tensor<1x1x64xf32>) -> (tensor<5x1x1x64xf32>, tensor<1x1x64xf32>)
  %y1, %n1 = dlc.gru %x1, %w1, %w1, %b1, %h1 {direction = #dlc<direction forward>, linear_before_reset} : (tensor<5x1x256xf32>, tensor<1x768x256xf32>, tensor<1x768x256xf32>, tensor<1x1536xf32>, tensor<1x1x256xf32>) -> (tensor<5x1x1x256xf32>, tensor<1x1x256xf32>)
  return %y, %y1 : tensor<5x1x1x64xf32>, tensor<5x1x1x256xf32>
}
