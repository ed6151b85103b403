// RUN: dlc-opt %s --dlc-decompose --split-input-file | FileCheck %s

// CHECK-LABEL: @softmax
// CHECK: %[[MAX:.*]] = dlc.reduce {{ *}}max %arg0 axes [1] keepdims
// CHECK: %[[D:.*]] = dlc.sub %arg0, %[[MAX]]
// CHECK: %[[E:.*]] = dlc.exp %[[D]]
// CHECK: %[[SUM:.*]] = dlc.reduce {{ *}}sum %[[E]] axes [1] keepdims
// CHECK: %[[R:.*]] = dlc.div %{{.*}}, %[[SUM]] : (tensor<f32>, tensor<3x1xf32>)
// CHECK: dlc.mul %[[E]], %[[R]]
func.func @softmax(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %y = dlc.softmax %x {axis = 1 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// Statistics of 16-bit values are computed in f32.
// CHECK-LABEL: @layer_norm
// CHECK: %[[X:.*]] = dlc.cast %arg0 to f32
// CHECK: dlc.reduce {{ *}}mean %[[X]] axes [1] keepdims : (tensor<3x4xf32>)
// CHECK: dlc.reduce {{ *}}mean {{.*}} axes [1] keepdims
// CHECK: dlc.rsqrt
// CHECK: dlc.cast %arg1 to f32
// CHECK: dlc.cast %{{.*}} to bf16
func.func @layer_norm(%x: tensor<3x4xbf16>, %s: tensor<4xbf16>, %b: tensor<4xbf16>) -> tensor<3x4xbf16> {
  %y = dlc.layer_norm %x scale %s bias %b {axis = 1 : i64, eps = 1.0e-5 : f64} : (tensor<3x4xbf16>, tensor<4xbf16>, tensor<4xbf16>) -> tensor<3x4xbf16>
  return %y : tensor<3x4xbf16>
}

// -----

// Groups are rows of plain tensors; the channels remain a separate dimension for the parameters.
// CHECK-LABEL: @group_norm
// CHECK: %[[X:.*]] = dlc.reshape %arg0 : (tensor<2x6x5x3xf32>) -> tensor<2x2x3x15xf32>
// CHECK: dlc.reduce {{ *}}mean %[[X]] axes [2, 3] keepdims
// CHECK: dlc.reduce {{ *}}mean {{.*}} axes [2, 3] keepdims
// CHECK: dlc.reshape %arg1 : (tensor<6xf32>) -> tensor<2x3x1xf32>
// CHECK: dlc.reshape {{.*}} : (tensor<2x2x3x15xf32>) -> tensor<2x6x5x3xf32>
func.func @group_norm(%x: tensor<2x6x5x3xf32>, %s: tensor<6xf32>) -> tensor<2x6x5x3xf32> {
  %y = dlc.group_norm %x scale %s {groups = 2 : i64, eps = 1.0e-5 : f64} : (tensor<2x6x5x3xf32>, tensor<6xf32>) -> tensor<2x6x5x3xf32>
  return %y : tensor<2x6x5x3xf32>
}

// -----

// Images in another layout keep it: statistics of channels, then of their groups.
// CHECK-LABEL: @group_norm_blocked
// CHECK: %[[M:.*]] = dlc.reduce {{ *}}mean %arg0 axes [2, 3] keepdims
// CHECK: dlc.sub %arg0, %[[M]]
// CHECK: dlc.reduce {{ *}}mean {{.*}} axes [2, 3] keepdims {{.*}} -> tensor<2x32x1x1xf32, #dlc.on<cpu>>
// CHECK: dlc.reduce {{ *}}mean {{.*}} axes [2] keepdims {{.*}} -> tensor<2x4x1xf32, #dlc.on<cpu>>
// CHECK-NOT: dlc.reshape %arg0
func.func @group_norm_blocked(%x: tensor<2x32x5x3xf32, #dlc.on<cpu, aBcd16b>>, %s: tensor<32xf32, #dlc.on<cpu>>) -> tensor<2x32x5x3xf32, #dlc.on<cpu, aBcd16b>> {
  %y = dlc.group_norm %x scale %s {groups = 4 : i64, eps = 1.0e-5 : f64} : (tensor<2x32x5x3xf32, #dlc.on<cpu, aBcd16b>>, tensor<32xf32, #dlc.on<cpu>>) -> tensor<2x32x5x3xf32, #dlc.on<cpu, aBcd16b>>
  return %y : tensor<2x32x5x3xf32, #dlc.on<cpu, aBcd16b>>
}

// -----

// CHECK-LABEL: @rms_norm
// CHECK: %[[Q:.*]] = dlc.mul %arg0, %arg0
// CHECK: dlc.reduce {{ *}}mean %[[Q]] axes [1] keepdims
// CHECK: dlc.rsqrt
func.func @rms_norm(%x: tensor<3x4xf32>, %s: tensor<4xf32>) -> tensor<3x4xf32> {
  %y = dlc.rms_norm %x, %s {axis = 1 : i64, eps = 1.0e-5 : f64} : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// CHECK-LABEL: @attention
// CHECK: %[[S:.*]] = dlc.matmul %arg0, %arg1 transpose_b
// CHECK: dlc.mul %[[S]]
// CHECK: dlc.compare ge
// CHECK: dlc.select
// CHECK: dlc.reduce max
// CHECK: dlc.matmul %{{.*}}, %arg2
func.func @attention(%q: tensor<2x3x4xf32>, %k: tensor<2x3x4xf32>, %v: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %y = dlc.attention %q, %k, %v {scale = 0.5 : f64, causal} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// -----

// A mask may exclude a whole row: its maximum is treated as finite and its sum as 1, so that the weights are 0.
// CHECK-LABEL: @masked_attention
// CHECK: %[[S:.*]] = dlc.select %arg3
// CHECK: %[[M:.*]] = dlc.reduce {{ *}}max %[[S]]
// CHECK: %[[L:.*]] = dlc.max %[[M]]
// CHECK: dlc.sub %[[S]], %[[L]]
// CHECK: %[[T:.*]] = dlc.reduce {{ *}}sum
// CHECK: %[[N:.*]] = dlc.max %[[T]]
// CHECK: dlc.div %{{.*}}, %[[N]]
func.func @masked_attention(%q: tensor<2x3x4xf32>, %k: tensor<2x3x4xf32>, %v: tensor<2x3x4xf32>, %m: tensor<3x3xi1>) -> tensor<2x3x4xf32> {
  %y = dlc.attention %q, %k, %v, %m {scale = 0.5 : f64} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<3x3xi1>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// -----

// CHECK-LABEL: @reduce
// CHECK: %[[R:.*]] = dlc.reduce {{ *}}sum %arg0 axes [1] keepdims
// CHECK: dlc.reshape %[[R]] : (tensor<3x1xf32>) -> tensor<3xf32>
func.func @reduce(%x: tensor<3x4xf32>) -> tensor<3xf32> {
  %y = dlc.reduce sum %x axes [1] : (tensor<3x4xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// CHECK-LABEL: @lrn
// CHECK: dlc.pad constant
// CHECK-COUNT-3: dlc.slice
// CHECK: dlc.pow
func.func @lrn(%x: tensor<1x8x2x2xf32>) -> tensor<1x8x2x2xf32> {
  %y = dlc.lrn %x {size = 3 : i64, alpha = 0.1 : f64, beta = 0.75 : f64, k = 1.0 : f64} : (tensor<1x8x2x2xf32>) -> tensor<1x8x2x2xf32>
  return %y : tensor<1x8x2x2xf32>
}
