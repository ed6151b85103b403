// Batch normalisation in training: one kernel for the sums of a channel and one for the elements, in each direction.
// RUN: dlc-opt %s --dlc-decompose --dlc-fuse --dlc-verify-layout --split-input-file | FileCheck %s

// CHECK-LABEL: @forward
// CHECK: dlc.fusion(%[[X:.*]] = %arg0) : (tensor<8x32x28x28xf32>) ->
// CHECK-DAG: %[[K:.*]] = dlc.slice %[[X]] start [0, 0, 0, 0] size [1, 32, 1, 1]
// CHECK-DAG: dlc.sub %[[X]], %[[K]]
// CHECK-COUNT-2: dlc.reduce {{ *}}mean {{.*}} axes [0, 2, 3] keepdims
// CHECK-NOT: dlc.yield {{.*}}28x28
// CHECK: dlc.yield {{.*}} : tensor<1x32x1x1xf32>
// CHECK: dlc.fusion({{.*}} = %arg0, {{.*}}) : {{.*}} -> tensor<8x32x28x28xf32>
// CHECK: dlc.relu
// CHECK-NOT: dlc.fusion
func.func @forward(%x: tensor<8x32x28x28xf32>, %s: tensor<32xf32>, %b: tensor<32xf32>) -> (tensor<8x32x28x28xf32>, tensor<32xf32>, tensor<32xf32>) {
  %y, %mean, %variance = dlc.batch_norm_train %x, %s, %b {eps = 1.0e-5 : f64} : (tensor<8x32x28x28xf32>, tensor<32xf32>, tensor<32xf32>) -> (tensor<8x32x28x28xf32>, tensor<32xf32>, tensor<32xf32>)
  %r = dlc.relu %y : (tensor<8x32x28x28xf32>) -> tensor<8x32x28x28xf32>
  return %r, %mean, %variance : tensor<8x32x28x28xf32>, tensor<32xf32>, tensor<32xf32>
}

// -----

// CHECK-LABEL: @backward
// CHECK: dlc.fusion
// CHECK-COUNT-2: dlc.reduce {{ *}}sum {{.*}} axes [0, 2, 3] keepdims
// CHECK-NOT: dlc.reduce
// CHECK: dlc.fusion
// CHECK-SAME: -> tensor<8x32x28x28xf32>
// CHECK-NOT: dlc.fusion
func.func @backward(%x: tensor<8x32x28x28xf32>, %dy: tensor<8x32x28x28xf32>, %s: tensor<32xf32>, %m: tensor<32xf32>, %v: tensor<32xf32>) -> (tensor<8x32x28x28xf32>, tensor<32xf32>, tensor<32xf32>) {
  %dx, %ds, %db = dlc.batch_norm_grad %x, %dy, %s, %m, %v {eps = 1.0e-5 : f64} : (tensor<8x32x28x28xf32>, tensor<8x32x28x28xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) -> (tensor<8x32x28x28xf32>, tensor<32xf32>, tensor<32xf32>)
  return %dx, %ds, %db : tensor<8x32x28x28xf32>, tensor<32xf32>, tensor<32xf32>
}

// -----

// In a blocked layout, and with bf16: the sums are f32, and only they are stored between the kernels.
!plain = tensor<8x32x28x28xbf16, #dlc.on<cpu>>
!blocked = tensor<8x32x28x28xbf16, #dlc.on<cpu, aBcd16b>>
!c = tensor<32xf32, #dlc.on<cpu>>
// CHECK-LABEL: @blocked
// CHECK: dlc.fusion
// CHECK: dlc.slice {{.*}} : (tensor<8x32x28x28xbf16, #dlc.on<cpu, aBcd16b>>) -> tensor<1x32x1x1xbf16, #dlc.on<cpu>>
// CHECK-COUNT-2: dlc.reduce {{ *}}mean
// CHECK-NOT: dlc.yield {{.*}}28x28
// CHECK: dlc.yield {{.*}}tensor<1x32x1x1xf32, #dlc.on<cpu>>
// CHECK: dlc.sub {{.*}} -> tensor<8x32x28x28xf32, #dlc.on<cpu, aBcd16b>>
// CHECK: dlc.yield {{.*}} : tensor<8x32x28x28xbf16, #dlc.on<cpu, aBcd16b>>
// CHECK-NOT: dlc.fusion
func.func @blocked(%0: !plain, %s: !c, %b: !c) -> (!plain, !c, !c) {
  %x = dlc.reorder %0 : (!plain) -> !blocked
  %y, %mean, %variance = dlc.batch_norm_train %x, %s, %b {eps = 1.0e-5 : f64} : (!blocked, !c, !c) -> (!blocked, !c, !c)
  %r = dlc.reorder %y : (!blocked) -> !plain
  return %r, %mean, %variance : !plain, !c, !c
}
