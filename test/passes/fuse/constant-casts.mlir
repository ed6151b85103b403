// RUN: dlc-opt %s --dlc-decompose | FileCheck %s

// Constant operands of GPU matmuls are cast at compile time; CPU kernels cast them while packing.
// CHECK-LABEL: func.func @gpu
// CHECK: %[[W:.*]] = dlc.constant dense<{{.*}}1.000000e+00, 2.500000e+00{{.*}}> : tensor<2x2xbf16, #dlc.on<cuda:0>>
// CHECK-NOT: dlc.cast
// CHECK: dlc.matmul %arg0, %[[W]]
func.func @gpu(%x: tensor<8x2xbf16, #dlc.on<cuda:0>>) -> tensor<8x2xbf16, #dlc.on<cuda:0>> {
  %w = dlc.constant dense<[[1.0, 2.5], [3.0, -4.0]]> : tensor<2x2xf32, #dlc.on<cuda:0>>
  %n = dlc.cast %w to bf16 : (tensor<2x2xf32, #dlc.on<cuda:0>>) -> tensor<2x2xbf16, #dlc.on<cuda:0>>
  %y = dlc.matmul %x, %n : (tensor<8x2xbf16, #dlc.on<cuda:0>>, tensor<2x2xbf16, #dlc.on<cuda:0>>) -> tensor<8x2xbf16, #dlc.on<cuda:0>>
  return %y : tensor<8x2xbf16, #dlc.on<cuda:0>>
}

// CHECK-LABEL: func.func @processor
// CHECK: dlc.cast
func.func @processor(%x: tensor<8x2xbf16, #dlc.on<cpu>>) -> tensor<8x2xbf16, #dlc.on<cpu>> {
  %w = dlc.constant dense<[[1.0, 2.5], [3.0, -4.0]]> : tensor<2x2xf32, #dlc.on<cpu>>
  %n = dlc.cast %w to bf16 : (tensor<2x2xf32, #dlc.on<cpu>>) -> tensor<2x2xbf16, #dlc.on<cpu>>
  %y = dlc.matmul %x, %n : (tensor<8x2xbf16, #dlc.on<cpu>>, tensor<2x2xbf16, #dlc.on<cpu>>) -> tensor<8x2xbf16, #dlc.on<cpu>>
  return %y : tensor<8x2xbf16, #dlc.on<cpu>>
}
