// Normalisation: text and accepted types.
// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-opt %s --mlir-print-op-generic | dlc-opt | FileCheck %s

// CHECK-LABEL: func @softmax
func.func @softmax(%x: tensor<2x3x4xf32>) {
  // CHECK: dlc.softmax %{{.*}} {axis = 2 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %0 = dlc.softmax %x {axis = 2 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: dlc.log_softmax %{{.*}} {axis = 0 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %1 = dlc.log_softmax %x {axis = 0 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: func @layer_norm
func.func @layer_norm(%x: tensor<2x3x4xf32>, %s: tensor<3x4xf32>, %b: tensor<4xf32>) {
  // CHECK: dlc.layer_norm %{{.*}} {axis = 1 : i64, eps = 1.000000e-05 : f64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %0 = dlc.layer_norm %x {axis = 1 : i64, eps = 1.000000e-05 : f64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: dlc.layer_norm %{{.*}} scale %{{.*}} {axis = 1 : i64, eps = 1.000000e-05 : f64} : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
  %1 = dlc.layer_norm %x scale %s {axis = 1 : i64, eps = 1.000000e-05 : f64} : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: dlc.layer_norm %{{.*}} bias %{{.*}} {axis = 1 : i64, eps = 1.000000e-05 : f64} : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  %2 = dlc.layer_norm %x bias %b {axis = 1 : i64, eps = 1.000000e-05 : f64} : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  // CHECK: dlc.layer_norm %{{.*}} scale %{{.*}} bias %{{.*}} {axis = 1 : i64, eps = 1.000000e-05 : f64} : (tensor<2x3x4xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  %3 = dlc.layer_norm %x scale %s bias %b {axis = 1 : i64, eps = 1.000000e-05 : f64} : (tensor<2x3x4xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: func @group_norm
func.func @group_norm(%x: tensor<2x6x?xf32>, %c: tensor<6xf32>) {
  // CHECK: dlc.group_norm %{{.*}} {eps = 1.000000e-05 : f64, groups = 6 : i64} : (tensor<2x6x?xf32>) -> tensor<2x6x?xf32>
  %0 = dlc.group_norm %x {groups = 6 : i64, eps = 1.000000e-05 : f64} : (tensor<2x6x?xf32>) -> tensor<2x6x?xf32>
  // CHECK: dlc.group_norm %{{.*}} scale %{{.*}} bias %{{.*}} {eps = 1.000000e-05 : f64, groups = 2 : i64} : (tensor<2x6x?xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x?xf32>
  %1 = dlc.group_norm %x scale %c bias %c {groups = 2 : i64, eps = 1.000000e-05 : f64} : (tensor<2x6x?xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x?xf32>
  return
}

// CHECK-LABEL: func @rms_norm
func.func @rms_norm(%x: tensor<2x3x4xf32>, %s: tensor<4xf32>) {
  // CHECK: dlc.rms_norm %{{.*}} {axis = 2 : i64, eps = 1.000000e-05 : f64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %0 = dlc.rms_norm %x {axis = 2 : i64, eps = 1.000000e-05 : f64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: dlc.rms_norm %{{.*}}, %{{.*}} {axis = 2 : i64, eps = 1.000000e-05 : f64} : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  %1 = dlc.rms_norm %x, %s {axis = 2 : i64, eps = 1.000000e-05 : f64} : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: func @batch_norm
func.func @batch_norm(%x: tensor<2x3x?xbf16>, %c: tensor<3xf32>) {
  // CHECK: dlc.batch_norm %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {eps = 1.000000e-05 : f64} : (tensor<2x3x?xbf16>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x?xbf16>
  %0 = dlc.batch_norm %x, %c, %c, %c, %c {eps = 1.000000e-05 : f64} : (tensor<2x3x?xbf16>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x?xbf16>
  return
}

// CHECK-LABEL: func @lrn
func.func @lrn(%x: tensor<2x3x4xf32>) {
  // CHECK: dlc.lrn %{{.*}} {alpha = 1.000000e-04 : f64, beta = 7.500000e-01 : f64, k = 1.000000e+00 : f64, size = 5 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %0 = dlc.lrn %x {alpha = 1.000000e-04 : f64, beta = 7.500000e-01 : f64, k = 1.000000e+00 : f64, size = 5 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: func @batch_norm_training
func.func @batch_norm_training(%x: tensor<2x3x?xbf16>, %c: tensor<3xf32>) {
  // CHECK: dlc.batch_norm_train %{{.*}}, %{{.*}}, %{{.*}} {eps = 1.000000e-05 : f64} : (tensor<2x3x?xbf16>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x?xbf16>, tensor<3xf32>, tensor<3xf32>)
  %0:3 = dlc.batch_norm_train %x, %c, %c {eps = 1.0e-5 : f64} : (tensor<2x3x?xbf16>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x?xbf16>, tensor<3xf32>, tensor<3xf32>)
  // CHECK: dlc.batch_norm_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {eps = 1.000000e-05 : f64} : (tensor<2x3x?xbf16>, tensor<2x3x?xbf16>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x?xbf16>, tensor<3xf32>, tensor<3xf32>)
  %1:3 = dlc.batch_norm_grad %x, %0#0, %c, %0#1, %0#2 {eps = 1.0e-5 : f64} : (tensor<2x3x?xbf16>, tensor<2x3x?xbf16>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x?xbf16>, tensor<3xf32>, tensor<3xf32>)
  return
}
