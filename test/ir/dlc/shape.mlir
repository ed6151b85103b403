// Constants and operations that move elements: text and accepted types.
// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-opt %s --mlir-print-op-generic | dlc-opt | FileCheck %s

// CHECK-LABEL: func @constants
func.func @constants() {
  // CHECK: dlc.constant dense<1.000000e+00> : tensor<2x3xf32>
  %0 = dlc.constant dense<1.000000e+00> : tensor<2x3xf32>
  // CHECK: dlc.constant dense<[1, -2]> : tensor<2xi64>
  %1 = dlc.constant dense<[1, -2]> : tensor<2xi64>
  // CHECK: dlc.constant dense<true> : tensor<i1>
  %2 = dlc.constant dense<true> : tensor<i1>
  // CHECK: dlc.constant dense<2.000000e+00> : tensor<4xbf16, #dlc.on<cpu:1>>
  %3 = dlc.constant dense<2.000000e+00> : tensor<4xbf16, #dlc.on<cpu:1>>
  // CHECK: dlc.constant dense_resource<weights> : tensor<2xf32>
  %4 = dlc.constant dense_resource<weights> : tensor<2xf32>
  // CHECK: dlc.iota 1 : tensor<2x3xi64>
  %5 = dlc.iota 1 : tensor<2x3xi64>
  // CHECK: dlc.iota 0 : tensor<?xf32>
  %6 = dlc.iota 0 : tensor<?xf32>
  return
}

// CHECK-LABEL: func @reshape
func.func @reshape(%x: tensor<2x3xf32>, %d: tensor<?x3xf32>, %e: tensor<0x3xf32>, %s: tensor<f32>) {
  // CHECK: dlc.reshape %{{.*}} : (tensor<2x3xf32>) -> tensor<6x1xf32>
  %0 = dlc.reshape %x : (tensor<2x3xf32>) -> tensor<6x1xf32>
  // CHECK: dlc.reshape %{{.*}} : (tensor<?x3xf32>) -> tensor<?xf32>
  %1 = dlc.reshape %d : (tensor<?x3xf32>) -> tensor<?xf32>
  // CHECK: dlc.reshape %{{.*}} : (tensor<0x3xf32>) -> tensor<7x0xf32>
  %2 = dlc.reshape %e : (tensor<0x3xf32>) -> tensor<7x0xf32>
  // CHECK: dlc.reshape %{{.*}} : (tensor<f32>) -> tensor<1x1xf32>
  %3 = dlc.reshape %s : (tensor<f32>) -> tensor<1x1xf32>
  return
}

// CHECK-LABEL: func @transpose
func.func @transpose(%x: tensor<2x3x?xf32>, %s: tensor<f32>) {
  // CHECK: dlc.transpose %{{.*}} [2, 0, 1] : (tensor<2x3x?xf32>) -> tensor<?x2x3xf32>
  %0 = dlc.transpose %x [2, 0, 1] : (tensor<2x3x?xf32>) -> tensor<?x2x3xf32>
  // CHECK: dlc.transpose %{{.*}} [] : (tensor<f32>) -> tensor<f32>
  %1 = dlc.transpose %s [] : (tensor<f32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func @broadcast
func.func @broadcast(%x: tensor<3x1xf32>, %d: tensor<?xf32>) {
  // CHECK: dlc.broadcast %{{.*}} : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %0 = dlc.broadcast %x : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  // CHECK: dlc.broadcast %{{.*}} : (tensor<?xf32>) -> tensor<2x4xf32>
  %1 = dlc.broadcast %d : (tensor<?xf32>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: func @slice
func.func @slice(%x: tensor<8x10xf32>, %d: tensor<?xf32>) {
  // CHECK: dlc.slice %{{.*}} start [1, 9] size [3, 10] stride [2, -1] : (tensor<8x10xf32>) -> tensor<3x10xf32>
  %0 = dlc.slice %x start [1, 9] size [3, 10] stride [2, -1] : (tensor<8x10xf32>) -> tensor<3x10xf32>
  // CHECK: dlc.slice %{{.*}} start [8, 0] size [0, 10] stride [1, 1] : (tensor<8x10xf32>) -> tensor<0x10xf32>
  %1 = dlc.slice %x start [8, 0] size [0, 10] stride [1, 1] : (tensor<8x10xf32>) -> tensor<0x10xf32>
  // CHECK: dlc.slice %{{.*}} start [4] size [2] stride [1] : (tensor<?xf32>) -> tensor<2xf32>
  %2 = dlc.slice %d start [4] size [2] stride [1] : (tensor<?xf32>) -> tensor<2xf32>
  return
}

// CHECK-LABEL: func @pad
func.func @pad(%x: tensor<4x5xf32>, %d: tensor<?x5xf32>, %v: tensor<f32>) {
  // CHECK: dlc.pad constant %{{.*}}, %{{.*}} low [1, -2] high [0, 3] : (tensor<4x5xf32>, tensor<f32>) -> tensor<5x6xf32>
  %0 = dlc.pad constant %x, %v low [1, -2] high [0, 3] : (tensor<4x5xf32>, tensor<f32>) -> tensor<5x6xf32>
  // CHECK: dlc.pad reflect %{{.*}}, %{{.*}} low [3, 0] high [3, 4] : (tensor<4x5xf32>, tensor<f32>) -> tensor<10x9xf32>
  %1 = dlc.pad reflect %x, %v low [3, 0] high [3, 4] : (tensor<4x5xf32>, tensor<f32>) -> tensor<10x9xf32>
  // CHECK: dlc.pad edge %{{.*}}, %{{.*}} low [3, 0] high [3, 0] : (tensor<?x5xf32>, tensor<f32>) -> tensor<?x5xf32>
  %2 = dlc.pad edge %d, %v low [3, 0] high [3, 0] : (tensor<?x5xf32>, tensor<f32>) -> tensor<?x5xf32>
  // CHECK: dlc.pad wrap %{{.*}}, %{{.*}} low [0, 7] high [0, 0] : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x12xf32>
  %3 = dlc.pad wrap %x, %v low [0, 7] high [0, 0] : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x12xf32>
  return
}

// CHECK-LABEL: func @concat
func.func @concat(%x: tensor<4x5xf32>, %y: tensor<4x1xf32>, %d: tensor<?x?xf32>) {
  // CHECK: dlc.concat 1(%{{.*}}, %{{.*}}) : (tensor<4x5xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>
  %0 = dlc.concat 1(%x, %y) : (tensor<4x5xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>
  // CHECK: dlc.concat 1(%{{.*}}, %{{.*}}) : (tensor<4x5xf32>, tensor<?x?xf32>) -> tensor<4x?xf32>
  %1 = dlc.concat 1(%x, %d) : (tensor<4x5xf32>, tensor<?x?xf32>) -> tensor<4x?xf32>
  // CHECK: dlc.concat 0(%{{.*}}) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %2 = dlc.concat 0(%x) : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// CHECK: dialect_resources
{-#
  dialect_resources: {
    builtin: {
      weights: "0x080000000000803F00000040"
    }
  }
#-}
