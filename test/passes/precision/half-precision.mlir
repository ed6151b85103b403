// RUN: dlc-opt %s -dlc-half-precision=costs=assumed | FileCheck %s
// RUN: dlc-opt %s "-dlc-half-precision=costs=assumed accuracy=strict" | FileCheck %s --check-prefix=STRICT

// Sums, bias and activation are in f32; the result is rounded once, and so is a value that is cast to an integer.
// STRICT-NOT: dlc.matmul {{.*}}f32
// CHECK-LABEL: @between
// CHECK-DAG: %[[X:.*]] = dlc.cast %arg0 to f32
// CHECK-DAG: %[[W:.*]] = dlc.constant dense<5.000000e-01> : tensor<96x200xf32>
// CHECK: %[[P:.*]] = dlc.matmul %[[X]], %[[W]] : {{.*}} -> tensor<64x200xf32>
// CHECK: %[[S:.*]] = dlc.add %[[P]], %{{.*}} -> tensor<64x200xf32>
// CHECK: %[[R:.*]] = dlc.relu %[[S]] : (tensor<64x200xf32>)
// CHECK: %[[Y:.*]] = dlc.cast %[[R]] to f16
// CHECK: %[[I:.*]] = dlc.cast %[[Y]] to i32
// CHECK: return %[[Y]], %[[I]]
func.func @between(%x: tensor<64x96xf16>) -> (tensor<64x200xf16>, tensor<64x200xi32>) {
  %w = dlc.constant dense<0.5> : tensor<96x200xf16>
  %b = dlc.constant dense<0.25> : tensor<200xf16>
  %0 = dlc.matmul %x, %w : (tensor<64x96xf16>, tensor<96x200xf16>) -> tensor<64x200xf16>
  %1 = dlc.add %0, %b : (tensor<64x200xf16>, tensor<200xf16>) -> tensor<64x200xf16>
  %2 = dlc.relu %1 : (tensor<64x200xf16>) -> tensor<64x200xf16>
  %3 = dlc.cast %2 to i32 : (tensor<64x200xf16>) -> tensor<64x200xi32>
  return %2, %3 : tensor<64x200xf16>, tensor<64x200xi32>
}

// A matmul of one row is bound by weight bandwidth: the weights remain 16 bits. So does a cache that is only extended.
// CHECK-LABEL: @row
// CHECK: dlc.matmul {{.*}} -> tensor<1x4096xf16>
// CHECK: %[[K:.*]] = dlc.matmul {{.*}} -> tensor<16x128xf32>
// CHECK: %[[H:.*]] = dlc.cast %[[K]] to f16
// CHECK: dlc.concat 0(%arg1, %[[H]]) {{.*}} -> tensor<1040x128xf16>
func.func @row(%x: tensor<1x512xf16>, %cache: tensor<1024x128xf16>, %z: tensor<16x512xf16>)
    -> (tensor<1x4096xf16>, tensor<1040x128xf16>) {
  %w = dlc.constant dense<0.5> : tensor<512x4096xf16>
  %v = dlc.constant dense<0.5> : tensor<512x128xf16>
  %0 = dlc.matmul %x, %w : (tensor<1x512xf16>, tensor<512x4096xf16>) -> tensor<1x4096xf16>
  %1 = dlc.matmul %z, %v : (tensor<16x512xf16>, tensor<512x128xf16>) -> tensor<16x128xf16>
  %2 = dlc.concat 0 (%cache, %1) : (tensor<1024x128xf16>, tensor<16x128xf16>) -> tensor<1040x128xf16>
  return %0, %2 : tensor<1x4096xf16>, tensor<1040x128xf16>
}

// A normalisation in f32 between matmuls: its casts are removed. bf16 has kernels, and a
// function without matmuls is not changed.
// CHECK-LABEL: @casts
// CHECK: %[[A:.*]] = dlc.matmul {{.*}} -> tensor<64x64xf32>
// CHECK-NEXT: %[[E:.*]] = dlc.exp %[[A]] : (tensor<64x64xf32>)
// CHECK-NEXT: %[[B:.*]] = dlc.matmul %[[E]], {{.*}} -> tensor<64x64xf32>
// CHECK-NEXT: dlc.cast %[[B]] to f16
// CHECK-LABEL: @others
// CHECK: dlc.matmul {{.*}} -> tensor<64x64xbf16>
// CHECK-NOT: dlc.cast
func.func @casts(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %w = dlc.constant dense<0.5> : tensor<64x64xf16>
  %0 = dlc.matmul %x, %w : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  %1 = dlc.cast %0 to f32 : (tensor<64x64xf16>) -> tensor<64x64xf32>
  %2 = dlc.exp %1 : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = dlc.cast %2 to f16 : (tensor<64x64xf32>) -> tensor<64x64xf16>
  %4 = dlc.matmul %3, %w : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  return %4 : tensor<64x64xf16>
}
func.func @others(%x: tensor<64x64xbf16>, %y: tensor<64x64xf16>) -> (tensor<64x64xbf16>, tensor<64x64xf16>) {
  %0 = dlc.matmul %x, %x : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %1 = dlc.add %y, %y : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  return %0, %1 : tensor<64x64xbf16>, tensor<64x64xf16>
}

// Weights of fewer bits are dequantized to f32, also for one row: kernels read the quantized values.
// CHECK-LABEL: @bits
// CHECK: %[[Q:.*]] = dlc.cast %arg1 to f32
// CHECK: %[[S:.*]] = dlc.mul %[[Q]], %{{.*}} -> tensor<512x4096xf32>
// CHECK: dlc.matmul {{.*}}, %[[S]] : {{.*}} -> tensor<1x4096xf32>
func.func @bits(%x: tensor<1x512xf16>, %q: tensor<512x4096xi8>) -> tensor<1x4096xf16> {
  %s = dlc.constant dense<0.5> : tensor<1x4096xf16>
  %0 = dlc.cast %q to f16 : (tensor<512x4096xi8>) -> tensor<512x4096xf16>
  %1 = dlc.mul %0, %s : (tensor<512x4096xf16>, tensor<1x4096xf16>) -> tensor<512x4096xf16>
  %2 = dlc.matmul %x, %1 : (tensor<1x512xf16>, tensor<512x4096xf16>) -> tensor<1x4096xf16>
  return %2 : tensor<1x4096xf16>
}

// A value with a reader that observes rounding is rounded for all readers, also before a ReLU: x - floor(x) is not negative.
// CHECK-LABEL: @observed
// CHECK: %[[S:.*]] = dlc.add {{.*}} -> tensor<64x64xf32>
// CHECK-NEXT: %[[N:.*]] = dlc.cast %[[S]] to f16
// CHECK-NEXT: %[[R:.*]] = dlc.cast %[[N]] to f32
// CHECK-NEXT: %[[P:.*]] = dlc.relu %[[R]] : (tensor<64x64xf32>)
// CHECK-NEXT: %[[H:.*]] = dlc.cast %[[P]] to f16
// CHECK: %[[F:.*]] = dlc.floor %[[H]] : (tensor<64x64xf16>)
// CHECK: dlc.sub %[[R]], %{{.*}} -> tensor<64x64xf32>
func.func @observed(%x: tensor<64x64xf16>, %b: tensor<64xf16>) -> tensor<64x64xf16> {
  %w = dlc.constant dense<0.5> : tensor<64x64xf16>
  %0 = dlc.matmul %x, %w : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  %1 = dlc.add %0, %b : (tensor<64x64xf16>, tensor<64xf16>) -> tensor<64x64xf16>
  %2 = dlc.relu %1 : (tensor<64x64xf16>) -> tensor<64x64xf16>
  %3 = dlc.floor %2 : (tensor<64x64xf16>) -> tensor<64x64xf16>
  %4 = dlc.sub %1, %3 : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  return %4 : tensor<64x64xf16>
}

// The same for casts to f16. Readers of the f32 value before such a cast read the f32 value.
// CHECK-LABEL: @observed_cast
// CHECK: %[[N:.*]] = dlc.cast %arg1 to f16
// CHECK: %[[R:.*]] = dlc.cast %[[N]] to f32
// CHECK: dlc.floor %[[N]]
// CHECK: dlc.sub %[[R]], %{{.*}} -> tensor<64x64xf32>
// CHECK: dlc.exp %arg1
func.func @observed_cast(%x: tensor<64x64xf16>, %y: tensor<64x64xf32>) -> (tensor<64x64xf16>, tensor<64x64xf32>) {
  %w = dlc.constant dense<0.5> : tensor<64x64xf16>
  %0 = dlc.matmul %x, %w : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  %1 = dlc.cast %y to f16 : (tensor<64x64xf32>) -> tensor<64x64xf16>
  %2 = dlc.floor %1 : (tensor<64x64xf16>) -> tensor<64x64xf16>
  %3 = dlc.sub %1, %2 : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  %4 = dlc.add %0, %3 : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  %5 = dlc.exp %y : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %4, %5 : tensor<64x64xf16>, tensor<64x64xf32>
}
