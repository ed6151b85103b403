// On a GPU, operations between a matmul and a reduction of its rows are fused into the reduction: it reads the matmul in 16
// bits, and libraries multiply without these ops. Operations that only another matmul reads are fused into the matmul; so are all on a CPU.
// RUN: dlc-opt %s --dlc-fuse | FileCheck %s
// REQUIRES: dlc-opt

// CHECK-LABEL: func.func @norm
// CHECK: %[[P:.*]] = dlc.fusion
// CHECK-NEXT: dlc.matmul
// CHECK-NEXT: dlc.yield
// CHECK: %[[S:.*]] = dlc.fusion({{.*}} = %[[P]]
// CHECK: dlc.cast
// CHECK: dlc.add
// CHECK: dlc.reduce
func.func @norm(%x: tensor<64x256xbf16, #dlc.on<cuda:0>>, %w: tensor<256x128xbf16, #dlc.on<cuda:0>>, %r: tensor<64x128xf32, #dlc.on<cuda:0>>) -> tensor<64x128xf32, #dlc.on<cuda:0>> {
  %0 = dlc.matmul %x, %w : (tensor<64x256xbf16, #dlc.on<cuda:0>>, tensor<256x128xbf16, #dlc.on<cuda:0>>) -> tensor<64x128xbf16, #dlc.on<cuda:0>>
  %1 = dlc.cast %0 to f32 : (tensor<64x128xbf16, #dlc.on<cuda:0>>) -> tensor<64x128xf32, #dlc.on<cuda:0>>
  %2 = dlc.add %1, %r : (tensor<64x128xf32, #dlc.on<cuda:0>>, tensor<64x128xf32, #dlc.on<cuda:0>>) -> tensor<64x128xf32, #dlc.on<cuda:0>>
  %3 = dlc.reduce max %2 axes [1] keepdims : (tensor<64x128xf32, #dlc.on<cuda:0>>) -> tensor<64x1xf32, #dlc.on<cuda:0>>
  %4 = dlc.sub %2, %3 : (tensor<64x128xf32, #dlc.on<cuda:0>>, tensor<64x1xf32, #dlc.on<cuda:0>>) -> tensor<64x128xf32, #dlc.on<cuda:0>>
  return %4 : tensor<64x128xf32, #dlc.on<cuda:0>>
}

// CHECK-LABEL: func.func @next
// CHECK: dlc.matmul
// CHECK-NEXT: dlc.relu
// CHECK-NEXT: dlc.yield
func.func @next(%x: tensor<64x256xbf16, #dlc.on<cuda:0>>, %w: tensor<256x128xbf16, #dlc.on<cuda:0>>, %v: tensor<128x8xbf16, #dlc.on<cuda:0>>) -> tensor<64x8xbf16, #dlc.on<cuda:0>> {
  %0 = dlc.matmul %x, %w : (tensor<64x256xbf16, #dlc.on<cuda:0>>, tensor<256x128xbf16, #dlc.on<cuda:0>>) -> tensor<64x128xbf16, #dlc.on<cuda:0>>
  %1 = dlc.relu %0 : (tensor<64x128xbf16, #dlc.on<cuda:0>>) -> tensor<64x128xbf16, #dlc.on<cuda:0>>
  %2 = dlc.matmul %1, %v : (tensor<64x128xbf16, #dlc.on<cuda:0>>, tensor<128x8xbf16, #dlc.on<cuda:0>>) -> tensor<64x8xbf16, #dlc.on<cuda:0>>
  return %2 : tensor<64x8xbf16, #dlc.on<cuda:0>>
}

// CHECK-LABEL: func.func @processor
// CHECK: dlc.matmul
// CHECK-NEXT: dlc.add
// CHECK-NEXT: dlc.yield
func.func @processor(%x: tensor<64x256xf32, #dlc.on<cpu>>, %w: tensor<256x128xf32, #dlc.on<cpu>>, %r: tensor<64x128xf32, #dlc.on<cpu>>) -> tensor<64x128xf32, #dlc.on<cpu>> {
  %0 = dlc.matmul %x, %w : (tensor<64x256xf32, #dlc.on<cpu>>, tensor<256x128xf32, #dlc.on<cpu>>) -> tensor<64x128xf32, #dlc.on<cpu>>
  %1 = dlc.add %0, %r : (tensor<64x128xf32, #dlc.on<cpu>>, tensor<64x128xf32, #dlc.on<cpu>>) -> tensor<64x128xf32, #dlc.on<cpu>>
  %3 = dlc.reduce max %1 axes [1] keepdims : (tensor<64x128xf32, #dlc.on<cpu>>) -> tensor<64x1xf32, #dlc.on<cpu>>
  %4 = dlc.sub %1, %3 : (tensor<64x128xf32, #dlc.on<cpu>>, tensor<64x1xf32, #dlc.on<cpu>>) -> tensor<64x128xf32, #dlc.on<cpu>>
  return %4 : tensor<64x128xf32, #dlc.on<cpu>>
}
