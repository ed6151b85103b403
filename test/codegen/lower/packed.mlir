// RUN: dlc-opt %s -split-input-file -dlc-place -dlc-layout=costs=assumed -dlc-fuse -dlc-select='threads=1' -dlc-lower='threads=1' | FileCheck %s

// Weights that two matmuls use are packed into one constant.
// CHECK-LABEL: exec.program @main
// CHECK-COUNT-1: exec.constant {{.*}} layout
// CHECK-NOT: exec.constant
// CHECK: exec.input 0
func.func @main(%x: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %w = dlc.constant dense<0.5> : tensor<256x256xf32>
  %a = dlc.matmul %x, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %y = dlc.matmul %a, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  return %y : tensor<256x256xf32>
}

// -----

// Different weights, or the same weights on another device, have separate constants.
// CHECK-LABEL: exec.program @main
// CHECK-DAG: exec.constant {{.*}} layout {{.*}} : <262144 on "cpu:1">
// CHECK-DAG: exec.constant {{.*}} layout {{.*}} : <262144>
// CHECK-DAG: exec.constant {{.*}} layout {{.*}} : <262144>
// CHECK-NOT: exec.constant
// CHECK: exec.input 0
func.func @main(%x: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %v = dlc.constant dense<0.25> : tensor<256x256xf32>
  %w = dlc.constant dense<0.5> : tensor<256x256xf32>
  %a = dlc.matmul %x, %v : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %b = dlc.matmul %a, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %y = dlc.matmul %b, %w {dlc.device = "cpu:1"} : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  return %y : tensor<256x256xf32>
}
