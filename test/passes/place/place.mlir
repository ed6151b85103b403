// RUN: dlc-opt %s --dlc-place --dlc-verify-placement --split-input-file | FileCheck %s
// RUN: dlc-opt %s --dlc-place='device=cpu:1' --split-input-file | FileCheck %s --check-prefix=ONE

// CHECK-LABEL: func.func @main(%arg0: tensor<2x3xf32, #dlc.on<cpu>>) -> tensor<2x3xf32, #dlc.on<cpu>>
// ONE-LABEL: func.func @main(%arg0: tensor<2x3xf32, #dlc.on<cpu:1>>) -> tensor<2x3xf32, #dlc.on<cpu:1>>
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: dlc.constant dense<{{.*}}> : tensor<2x3xf32, #dlc.on<cpu>>
  %c = dlc.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  // CHECK: dlc.constant dense_resource<w> : tensor<3xf32, #dlc.on<cpu>>
  %w = dlc.constant dense_resource<w> : tensor<3xf32>
  %y = dlc.add %x, %c : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: dlc.mul %{{.*}}, %{{.*}} : (tensor<2x3xf32, #dlc.on<cpu>>, tensor<3xf32, #dlc.on<cpu>>) -> tensor<2x3xf32, #dlc.on<cpu>>
  %z = dlc.mul %y, %w : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F0000004000004040"
    }
  }
#-}

// -----

// Regions and their arguments are also placed.
// CHECK-LABEL: func.func @loop
func.func @loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %n = dlc.constant dense<3> : tensor<i64>
  // CHECK: ^bb0(%{{.*}}: tensor<i64, #dlc.on<cpu>>, %{{.*}}: tensor<4xf32, #dlc.on<cpu>>):
  %y = dlc.loop trip(%n : tensor<i64>) inits(%x : tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %c: tensor<4xf32>):
    %d = dlc.add %c, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    dlc.yield %d : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
