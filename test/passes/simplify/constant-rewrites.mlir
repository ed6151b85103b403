// RUN: dlc-opt %s --dlc-simplify --split-input-file | FileCheck %s
// RUN: dlc-opt %s --dlc-accuracy=accuracy=strict --dlc-simplify --split-input-file | FileCheck %s --check-prefix=STRICT

// Factors that are both above 1 or both below 1 are merged. Only powers of two above 1 keep all bits.
// CHECK-LABEL: @factors
// CHECK-DAG: %[[SIX:.*]] = dlc.constant dense<6.000000e+00>
// CHECK-DAG: %[[SMALL:.*]] = dlc.constant dense<1.250000e-01>
// CHECK-DAG: %[[EIGHT:.*]] = dlc.constant dense<8.000000e+00>
// CHECK-COUNT-3: dlc.mul
// CHECK-NOT: dlc.mul
// STRICT-LABEL: @factors
// STRICT-DAG: %[[EIGHT:.*]] = dlc.constant dense<8.000000e+00>
// STRICT-COUNT-5: dlc.mul
// STRICT-NOT: dlc.mul
func.func @factors(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %two = dlc.constant dense<2.0> : tensor<f32>
  %three = dlc.constant dense<3.0> : tensor<f32>
  %four = dlc.constant dense<4.0> : tensor<f32>
  %half = dlc.constant dense<0.5> : tensor<f32>
  %quarter = dlc.constant dense<0.25> : tensor<f32>
  %a = dlc.mul %x, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = dlc.mul %a, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = dlc.mul %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d = dlc.mul %c, %quarter : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %y = dlc.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %e = dlc.mul %y, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %f = dlc.mul %e, %four : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %b, %d, %f : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Factors are not merged if their product is infinite, zero or subnormal, or if it would undo an overflow.
// CHECK-LABEL: @unsafe_factors
// STRICT-LABEL: @unsafe_factors
// CHECK-COUNT-8: dlc.mul
// CHECK-NOT: dlc.mul
func.func @unsafe_factors(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %big = dlc.constant dense<1.0e38> : tensor<f32>
  %ten = dlc.constant dense<10.0> : tensor<f32>
  %tiny = dlc.constant dense<1.0e-30> : tensor<f32>
  %tenth = dlc.constant dense<0.1> : tensor<f32>
  %small = dlc.constant dense<1.0e-9> : tensor<f32>
  %a = dlc.mul %x, %big : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = dlc.mul %a, %ten : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = dlc.mul %x, %tiny : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d = dlc.mul %c, %tiny : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %y = dlc.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %e = dlc.mul %y, %ten : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %f = dlc.mul %e, %tenth : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %g = dlc.mul %y, %tiny : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %h = dlc.mul %g, %small : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %b, %d, %f, %h : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// The limits depend on the element type: the maximum of f16 is 65504, those of bf16 and f64 are larger.
// CHECK-LABEL: @types
// STRICT-LABEL: @types
// CHECK-COUNT-2: dlc.mul %{{.*}} : (tensor<4xf16>
// CHECK-COUNT-1: dlc.mul %{{.*}} : (tensor<4xbf16>
// CHECK-COUNT-1: dlc.mul %{{.*}} : (tensor<4xf64>
// CHECK-NOT: dlc.mul
func.func @types(%h: tensor<4xf16>, %b: tensor<4xbf16>, %d: tensor<4xf64>) -> (tensor<4xf16>, tensor<4xbf16>, tensor<4xf64>) {
  %ch = dlc.constant dense<300.0> : tensor<f16>
  %cb = dlc.constant dense<300.0> : tensor<bf16>
  %cd = dlc.constant dense<1.0e30> : tensor<f64>
  %h1 = dlc.mul %h, %ch : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  %h2 = dlc.mul %h1, %ch : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  %b1 = dlc.mul %b, %cb : (tensor<4xbf16>, tensor<bf16>) -> tensor<4xbf16>
  %b2 = dlc.mul %b1, %cb : (tensor<4xbf16>, tensor<bf16>) -> tensor<4xbf16>
  %d1 = dlc.mul %d, %cd : (tensor<4xf64>, tensor<f64>) -> tensor<4xf64>
  %d2 = dlc.mul %d1, %cd : (tensor<4xf64>, tensor<f64>) -> tensor<4xf64>
  return %h2, %b2, %d2 : tensor<4xf16>, tensor<4xbf16>, tensor<4xf64>
}

// -----

// Float additions are not merged, since this one rounds. Integer additions are merged, since they wrap.
// CHECK-LABEL: @terms
// CHECK: %[[SUM:.*]] = dlc.constant dense<7> : tensor<i32>
// CHECK: dlc.add %arg0
// CHECK: dlc.add {{.*}} : (tensor<4xf32>
// CHECK: dlc.add %arg1, %[[SUM]]
// CHECK-NOT: dlc.add
// STRICT-LABEL: @terms
// STRICT: dense<7> : tensor<i32>
func.func @terms(%x: tensor<4xf32>, %n: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %up = dlc.constant dense<12582912.0> : tensor<f32>
  %down = dlc.constant dense<-12582912.0> : tensor<f32>
  %three = dlc.constant dense<3> : tensor<i32>
  %four = dlc.constant dense<4> : tensor<i32>
  %a = dlc.add %x, %up : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = dlc.add %a, %down : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = dlc.add %n, %three : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %d = dlc.add %c, %four : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  return %b, %d : tensor<4xf32>, tensor<4xi32>
}

// -----

// Roots differ from powers at -0.0 and minus infinity, so that only powers of non-negative values become roots.
// CHECK-LABEL: @roots
// CHECK: dlc.pow %arg0
// CHECK: dlc.pow %arg0
// CHECK: %[[R:.*]] = dlc.relu %arg0
// CHECK: dlc.pow %[[R]]
// CHECK: %[[A:.*]] = dlc.abs %arg0
// CHECK: dlc.rsqrt %[[A]]
// CHECK: %[[S:.*]] = dlc.reduce sum
// CHECK: dlc.sqrt %[[S]]
// CHECK-NOT: dlc.pow
// STRICT-LABEL: @roots
// STRICT-COUNT-4: dlc.pow
// STRICT: dlc.reduce sum
// STRICT: dlc.sqrt
func.func @roots(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<1xf32>) {
  %half = dlc.constant dense<0.5> : tensor<f32>
  %minus = dlc.constant dense<-0.5> : tensor<f32>
  %a = dlc.pow %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = dlc.pow %x, %minus : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = dlc.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %c = dlc.pow %r, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %m = dlc.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  %d = dlc.pow %m, %minus : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %s = dlc.mul %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t = dlc.reduce sum %s axes [0] keepdims : (tensor<4xf32>) -> tensor<1xf32>
  %e = dlc.pow %t, %half : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
  return %a, %b, %c, %d, %e : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<1xf32>
}

// -----

// With strict accuracy, rewrites that change rounding are not applied: cubes and reciprocal roots. A square is rounded once.
// CHECK-LABEL: @rounded
// CHECK-NOT: dlc.pow
// CHECK: dlc.rsqrt
// STRICT-LABEL: @rounded
// STRICT: dlc.mul %arg0, %arg0
// STRICT: dlc.pow %arg0
// STRICT: dlc.sqrt
// STRICT: dlc.div
func.func @rounded(%x: tensor<4xf32>, %v: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %two = dlc.constant dense<2.0> : tensor<f32>
  %three = dlc.constant dense<3.0> : tensor<f32>
  %a = dlc.pow %x, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = dlc.pow %x, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %s = dlc.sqrt %v : (tensor<4xf32>) -> tensor<4xf32>
  %c = dlc.div %x, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Division by a power of two becomes a multiplication if the reciprocal is a normal number of the type.
// CHECK-LABEL: @quotients
// CHECK: dlc.mul %arg0
// CHECK: dlc.div %arg0
// CHECK: dlc.mul %arg1
// CHECK: dlc.div %arg1
// STRICT-LABEL: @quotients
// STRICT: dlc.mul %arg0
// STRICT: dlc.div %arg0
// STRICT: dlc.mul %arg1
// STRICT: dlc.div %arg1
func.func @quotients(%x: tensor<4xf32>, %h: tensor<4xf16>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf16>, tensor<4xf16>) {
  %a = dlc.constant dense<0x7E800000> : tensor<f32>
  %b = dlc.constant dense<0x7F000000> : tensor<f32>
  %c = dlc.constant dense<16384.0> : tensor<f16>
  %d = dlc.constant dense<32768.0> : tensor<f16>
  %0 = dlc.div %x, %a : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = dlc.div %x, %b : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = dlc.div %h, %c : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  %3 = dlc.div %h, %d : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf16>, tensor<4xf16>
}

// -----

// A maximum with -0.0 is not a ReLU.
// CHECK-LABEL: @minus_zero
// STRICT-LABEL: @minus_zero
// CHECK: dlc.max
func.func @minus_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = dlc.constant dense<-0.0> : tensor<f32>
  %y = dlc.max %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Factors from 2^-12 to 2^12 are moved from the operands of a matmul to its result.
// CHECK-LABEL: @product
// CHECK: %[[C:.*]] = dlc.constant dense<2.44140625E-4> : tensor<f32>
// CHECK: %[[M:.*]] = dlc.matmul %arg0, %arg1
// CHECK: dlc.mul %[[M]], %[[C]]
// STRICT-LABEL: @product
// STRICT: dlc.mul %arg0
// STRICT: dlc.matmul
func.func @product(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %c = dlc.constant dense<2.44140625e-4> : tensor<f32>
  %s = dlc.mul %a, %c : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %y = dlc.matmul %s, %b : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

// Smaller and larger factors are not moved, nor tensors with both large and small factors.
// CHECK-LABEL: @far_factors
// STRICT-LABEL: @far_factors
// CHECK: dlc.mul
// CHECK: dlc.matmul
// CHECK: dlc.mul
// CHECK: dlc.mul
// CHECK: dlc.matmul
// CHECK-NEXT: return
func.func @far_factors(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>) {
  %tiny = dlc.constant dense<1.0e-20> : tensor<f32>
  %huge = dlc.constant dense<1.0e20> : tensor<f32>
  %s = dlc.mul %a, %tiny : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %y = dlc.matmul %s, %b : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  %t = dlc.mul %a, %huge : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %u = dlc.mul %b, %tiny : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
  %z = dlc.matmul %t, %u : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  return %y, %z : tensor<3x5xf32>, tensor<3x5xf32>
}

// -----

// Decomposed activations are recognized by default, but not with strict accuracy.
// CHECK-LABEL: @gelu
// CHECK: dlc.gelu
// STRICT-LABEL: @gelu
// STRICT: dlc.erf
// STRICT-NOT: dlc.gelu
func.func @gelu(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = dlc.constant dense<1.41421354> : tensor<f32>
  %one = dlc.constant dense<1.0> : tensor<f32>
  %half = dlc.constant dense<0.5> : tensor<f32>
  %a = dlc.div %x, %r : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = dlc.erf %a : (tensor<4xf32>) -> tensor<4xf32>
  %c = dlc.add %b, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d = dlc.mul %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = dlc.mul %d, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %e : tensor<4xf32>
}
