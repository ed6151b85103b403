// Attention: text and accepted types.
// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-opt %s --mlir-print-op-generic | dlc-opt | FileCheck %s

// CHECK-LABEL: func @plain
func.func @plain(%q: tensor<2x8x5x16xf32>, %k: tensor<2x8x7x16xf32>, %v: tensor<2x8x7x32xf32>) {
  // CHECK: dlc.attention %{{.*}}, %{{.*}}, %{{.*}} {scale = 2.500000e-01 : f64} : (tensor<2x8x5x16xf32>, tensor<2x8x7x16xf32>, tensor<2x8x7x32xf32>) -> tensor<2x8x5x32xf32>
  %0 = dlc.attention %q, %k, %v {scale = 2.500000e-01 : f64} : (tensor<2x8x5x16xf32>, tensor<2x8x7x16xf32>, tensor<2x8x7x32xf32>) -> tensor<2x8x5x32xf32>
  // CHECK: dlc.attention %{{.*}}, %{{.*}}, %{{.*}} {causal, scale = 2.500000e-01 : f64} : (tensor<2x8x5x16xf32>, tensor<2x8x7x16xf32>, tensor<2x8x7x32xf32>) -> tensor<2x8x5x32xf32>
  %1 = dlc.attention %q, %k, %v {causal, scale = 2.500000e-01 : f64} : (tensor<2x8x5x16xf32>, tensor<2x8x7x16xf32>, tensor<2x8x7x32xf32>) -> tensor<2x8x5x32xf32>
  return
}

// CHECK-LABEL: func @masked
func.func @masked(%q: tensor<2x8x5x16xf32>, %k: tensor<2x8x7x16xf32>, %v: tensor<2x8x7x32xf32>, %m: tensor<5x7xi1>) {
  // CHECK: dlc.attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {scale = 2.500000e-01 : f64} : (tensor<2x8x5x16xf32>, tensor<2x8x7x16xf32>, tensor<2x8x7x32xf32>, tensor<5x7xi1>) -> tensor<2x8x5x32xf32>
  %0 = dlc.attention %q, %k, %v, %m {scale = 2.500000e-01 : f64} : (tensor<2x8x5x16xf32>, tensor<2x8x7x16xf32>, tensor<2x8x7x32xf32>, tensor<5x7xi1>) -> tensor<2x8x5x32xf32>
  return
}

// CHECK-LABEL: func @added
func.func @added(%q: tensor<2x8x5x16xf32>, %k: tensor<2x8x7x16xf32>, %v: tensor<2x8x7x32xf32>, %m: tensor<2x1x1x7xf32>) {
  // CHECK: dlc.attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {scale = 2.500000e-01 : f64} : (tensor<2x8x5x16xf32>, tensor<2x8x7x16xf32>, tensor<2x8x7x32xf32>, tensor<2x1x1x7xf32>) -> tensor<2x8x5x32xf32>
  %0 = dlc.attention %q, %k, %v, %m {scale = 2.500000e-01 : f64} : (tensor<2x8x5x16xf32>, tensor<2x8x7x16xf32>, tensor<2x8x7x32xf32>, tensor<2x1x1x7xf32>) -> tensor<2x8x5x32xf32>
  return
}

// CHECK-LABEL: func @training
func.func @training(%q: tensor<2x8x5x16xbf16>, %k: tensor<2x8x7x16xbf16>, %v: tensor<2x8x7x32xbf16>, %m: tensor<5x7xi1>, %dy: tensor<2x8x5x32xbf16>) {
  // CHECK: %[[Y:.*]], %[[L:.*]] = dlc.attention_train %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {causal, scale = 2.500000e-01 : f64} : (tensor<2x8x5x16xbf16>, tensor<2x8x7x16xbf16>, tensor<2x8x7x32xbf16>, tensor<5x7xi1>) -> (tensor<2x8x5x32xbf16>, tensor<2x8x5xf32>)
  %y:2 = dlc.attention_train %q, %k, %v, %m {causal, scale = 2.500000e-01 : f64} : (tensor<2x8x5x16xbf16>, tensor<2x8x7x16xbf16>, tensor<2x8x7x32xbf16>, tensor<5x7xi1>) -> (tensor<2x8x5x32xbf16>, tensor<2x8x5xf32>)
  // CHECK: dlc.attention_grad %{{.*}}, %{{.*}}, %{{.*}}, %[[Y]], %[[L]], %{{.*}}, %{{.*}} {causal, scale = 2.500000e-01 : f64} : (tensor<2x8x5x16xbf16>, tensor<2x8x7x16xbf16>, tensor<2x8x7x32xbf16>, tensor<2x8x5x32xbf16>, tensor<2x8x5xf32>, tensor<2x8x5x32xbf16>, tensor<5x7xi1>) -> (tensor<2x8x5x16xbf16>, tensor<2x8x7x16xbf16>, tensor<2x8x7x32xbf16>)
  %d:3 = dlc.attention_grad %q, %k, %v, %y#0, %y#1, %dy, %m {causal, scale = 2.500000e-01 : f64} : (tensor<2x8x5x16xbf16>, tensor<2x8x7x16xbf16>, tensor<2x8x7x32xbf16>, tensor<2x8x5x32xbf16>, tensor<2x8x5xf32>, tensor<2x8x5x32xbf16>, tensor<5x7xi1>) -> (tensor<2x8x5x16xbf16>, tensor<2x8x7x16xbf16>, tensor<2x8x7x32xbf16>)
  return
}

// CHECK-LABEL: func @dynamic
func.func @dynamic(%q: tensor<?x?x16xf32>, %k: tensor<2x?x16xf32>, %v: tensor<2x7x?xf32>) {
  // CHECK: dlc.attention %{{.*}}, %{{.*}}, %{{.*}} {scale = 2.500000e-01 : f64} : (tensor<?x?x16xf32>, tensor<2x?x16xf32>, tensor<2x7x?xf32>) -> tensor<2x?x?xf32>
  %0 = dlc.attention %q, %k, %v {scale = 2.500000e-01 : f64} : (tensor<?x?x16xf32>, tensor<2x?x16xf32>, tensor<2x7x?xf32>) -> tensor<2x?x?xf32>
  return
}
