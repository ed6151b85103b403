// Attention on a GPU is not decomposed in either direction; the gradient of its mask needs the scores.
// RUN: dlc-opt %s --dlc-mark-attention='device=cuda:0 gradients' --dlc-grad | FileCheck %s --check-prefixes=CHECK,WHOLE
// RUN: dlc-opt %s --dlc-grad | FileCheck %s --check-prefixes=CHECK,OPENED
// RUN: dlc-opt %s --dlc-mark-attention='device=cuda:0 gradients' --dlc-grad --dlc-precision='precision=bf16' | FileCheck %s --check-prefix=NARROW

// With 16-bit operands, the sums of exponentials are f32.
// CHECK-LABEL: func.func @plain
// WHOLE: %[[Y:.*]], %[[L:.*]] = dlc.attention_train %arg0, %arg1, %arg1, %arg2 {causal, scale = 5.000000e-01 : f64}
// WHOLE: dlc.attention_grad %arg0, %arg1, %arg1, %[[Y]], %[[L]], %{{.*}}, %arg2 {causal, scale = 5.000000e-01 : f64}
// WHOLE-NOT: dlc.matmul
// OPENED-NOT: dlc.attention
// CHECK: return
// NARROW-LABEL: func.func @plain
// NARROW: dlc.attention_train {{.*}} -> (tensor<2x5x8xbf16>, tensor<2x5xf32>)
// NARROW: dlc.attention_grad {{.*}}tensor<2x5x8xbf16>, tensor<2x5xf32>, tensor<2x5x8xbf16>, tensor<5x7xi1>) -> (tensor<2x5x8xbf16>, tensor<2x7x8xbf16>, tensor<2x7x8xbf16>)
func.func @plain(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %m: tensor<5x7xi1>) -> (tensor<2x5x8xf32>, tensor<2x7x8xf32>) {
  %y = dlc.attention %q, %k, %k, %m {causal, scale = 0.5 : f64} : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>, tensor<5x7xi1>) -> tensor<2x5x8xf32>
  %z = dlc.mul %y, %y : (tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %s = dlc.reduce sum %z axes [0, 1, 2] : (tensor<2x5x8xf32>) -> tensor<f32>
  %g:2 = dlc.gradient(%s) in (%q, %k) : (tensor<f32>, tensor<2x5x8xf32>, tensor<2x7x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x7x8xf32>)
  return %g#0, %g#1 : tensor<2x5x8xf32>, tensor<2x7x8xf32>
}

// CHECK-LABEL: func.func @elsewhere
// CHECK-NOT: dlc.attention
// CHECK: return
func.func @elsewhere(%q: tensor<2x5x8xf32>) -> tensor<2x5x8xf32> {
  %y = dlc.attention %q, %q, %q {scale = 0.5 : f64, dlc.device = "cpu"} : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %s = dlc.reduce sum %y axes [0, 1, 2] : (tensor<2x5x8xf32>) -> tensor<f32>
  %g = dlc.gradient(%s) in (%q) : (tensor<f32>, tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %g : tensor<2x5x8xf32>
}

// CHECK-LABEL: func.func @bias
// CHECK-NOT: dlc.attention
// CHECK: return
func.func @bias(%q: tensor<2x5x8xf32>, %m: tensor<5x5xf32>) -> tensor<5x5xf32> {
  %y = dlc.attention %q, %q, %q, %m {scale = 0.5 : f64} : (tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<5x5xf32>) -> tensor<2x5x8xf32>
  %s = dlc.reduce sum %y axes [0, 1, 2] : (tensor<2x5x8xf32>) -> tensor<f32>
  %g = dlc.gradient(%s) in (%m) : (tensor<f32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  return %g : tensor<5x5xf32>
}
