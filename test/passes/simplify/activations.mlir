// RUN: dlc-opt %s --dlc-simplify --split-input-file | FileCheck %s

// As exported by PyTorch: x * (1 + erf(x / sqrt(2))) * 0.5
// CHECK-LABEL: @torch
// CHECK-NEXT: %[[Y:.*]] = dlc.gelu %arg0 : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @torch(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = dlc.constant dense<1.41421354> : tensor<f32>
  %one = dlc.constant dense<1.0> : tensor<f32>
  %half = dlc.constant dense<0.5> : tensor<f32>
  %0 = dlc.div %x, %r : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = dlc.erf %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = dlc.add %1, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = dlc.mul %x, %2 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = dlc.mul %3, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// -----

// (0.5 * x) * (1 + erf(x * sqrt(0.5))), where x is a product.
// CHECK-LABEL: @halved
// CHECK: %[[X:.*]] = dlc.mul %arg0, %arg1
// CHECK: dlc.gelu %[[X]]
// CHECK-NOT: dlc.erf
func.func @halved(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %r = dlc.constant dense<0.707106769> : tensor<f32>
  %one = dlc.constant dense<1.0> : tensor<f32>
  %half = dlc.constant dense<0.5> : tensor<f32>
  %x = dlc.mul %a, %b : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %0 = dlc.mul %x, %r : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = dlc.erf %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = dlc.add %one, %1 : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = dlc.mul %half, %x : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = dlc.mul %3, %2 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// -----

// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
// CHECK-LABEL: @tanh
// CHECK: dlc.gelu %arg0 {approximate}
// CHECK-NOT: dlc.tanh
func.func @tanh(%x: tensor<8xf32>) -> tensor<8xf32> {
  %three = dlc.constant dense<3.0> : tensor<f32>
  %c = dlc.constant dense<0.044715> : tensor<f32>
  %s = dlc.constant dense<0.797884583> : tensor<f32>
  %one = dlc.constant dense<1.0> : tensor<f32>
  %half = dlc.constant dense<0.5> : tensor<f32>
  %0 = dlc.pow %x, %three : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = dlc.mul %0, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = dlc.add %x, %1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = dlc.mul %2, %s : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %4 = dlc.tanh %3 : (tensor<8xf32>) -> tensor<8xf32>
  %5 = dlc.add %4, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %6 = dlc.mul %x, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %7 = dlc.mul %6, %5 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %7 : tensor<8xf32>
}

// -----

// With another constant it is not GELU.
// CHECK-LABEL: @other
// CHECK: dlc.erf
func.func @other(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = dlc.constant dense<0.75> : tensor<f32>
  %one = dlc.constant dense<1.0> : tensor<f32>
  %half = dlc.constant dense<0.5> : tensor<f32>
  %0 = dlc.mul %x, %r : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = dlc.erf %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = dlc.add %one, %1 : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = dlc.mul %half, %x : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = dlc.mul %3, %2 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// -----

// Mish of ONNX: x * tanh(softplus(x)) takes one exponential.
// CHECK-LABEL: @mish
// CHECK: %[[M:.*]] = dlc.min %arg0,
// CHECK: %[[N:.*]] = dlc.exp %[[M]]
// CHECK: %[[S:.*]] = dlc.add %[[N]],
// CHECK: %[[P:.*]] = dlc.mul %[[N]], %[[S]]
// CHECK: %[[Q:.*]] = dlc.add %[[P]],
// CHECK: %[[T:.*]] = dlc.div %[[P]], %[[Q]]
// CHECK: dlc.mul %arg0, %[[T]]
// CHECK-NOT: dlc.tanh
func.func @mish(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = dlc.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  %a = dlc.abs %x : (tensor<8xf32>) -> tensor<8xf32>
  %n = dlc.neg %a : (tensor<8xf32>) -> tensor<8xf32>
  %e = dlc.exp %n : (tensor<8xf32>) -> tensor<8xf32>
  %l = dlc.log1p %e : (tensor<8xf32>) -> tensor<8xf32>
  %s = dlc.add %r, %l : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %t = dlc.tanh %s : (tensor<8xf32>) -> tensor<8xf32>
  %y = dlc.mul %x, %t : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// 16-bit values would be rounded after each operation; and this is not softplus.
// CHECK-LABEL: @not_mish
// CHECK: dlc.tanh
// CHECK: dlc.tanh
func.func @not_mish(%x: tensor<8xf16>, %z: tensor<8xf32>) -> (tensor<8xf16>, tensor<8xf32>) {
  %e = dlc.exp %x : (tensor<8xf16>) -> tensor<8xf16>
  %l = dlc.log1p %e : (tensor<8xf16>) -> tensor<8xf16>
  %t = dlc.tanh %l : (tensor<8xf16>) -> tensor<8xf16>
  %f = dlc.exp %z : (tensor<8xf32>) -> tensor<8xf32>
  %u = dlc.tanh %f : (tensor<8xf32>) -> tensor<8xf32>
  return %t, %u : tensor<8xf16>, tensor<8xf32>
}

// -----

// A factor of 0.5 after a multiplication is not merged with the factor 2, which may overflow before it.
// CHECK-LABEL: @before_product
// CHECK-DAG: %[[TWO:.*]] = dlc.constant dense<2.000000e+00>
// CHECK-DAG: %[[HALF:.*]] = dlc.constant dense<5.000000e-01>
// CHECK: %[[Y:.*]] = dlc.gelu %arg0
// CHECK-NEXT: %[[Z:.*]] = dlc.matmul %[[Y]], %arg1
// CHECK-NEXT: %[[U:.*]] = dlc.mul %[[Z]], %[[TWO]]
// CHECK-NEXT: %[[V:.*]] = dlc.mul %[[U]], %[[HALF]]
// CHECK-NEXT: return %[[V]]
func.func @before_product(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %r = dlc.constant dense<1.41421354> : tensor<f32>
  %one = dlc.constant dense<1.0> : tensor<f32>
  %half = dlc.constant dense<0.5> : tensor<f32>
  %0 = dlc.div %x, %r : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = dlc.erf %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = dlc.add %1, %one : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %3 = dlc.mul %x, %2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = dlc.matmul %3, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %5 = dlc.mul %4, %half : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return %5 : tensor<4x2xf32>
}

// -----

// A final factor of 0.5 belongs to GELU, even before a matmul, which could absorb scales of its operands.
// CHECK-LABEL: @half_last
// CHECK-NEXT: %[[Y:.*]] = dlc.gelu %arg0
// CHECK-NEXT: %[[Z:.*]] = dlc.matmul %[[Y]], %arg1
// CHECK-NEXT: return %[[Z]]
func.func @half_last(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %r = dlc.constant dense<1.41421354> : tensor<f32>
  %one = dlc.constant dense<1.0> : tensor<f32>
  %half = dlc.constant dense<0.5> : tensor<f32>
  %0 = dlc.div %x, %r : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = dlc.erf %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = dlc.add %1, %one : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %3 = dlc.mul %x, %2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = dlc.mul %3, %half : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %5 = dlc.matmul %4, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return %5 : tensor<4x2xf32>
}
