// RUN: dlc-opt %s -dlc-excess-precision -dlc-fuse | FileCheck %s
// RUN: dlc-opt %s "-dlc-excess-precision=accuracy=strict" -dlc-fuse | FileCheck %s --check-prefix=STRICT
// Libraries compute epilogues in f32. With strict accuracy the epilogue of a 16-bit matmul has only ops that commute with
// its rounding.

// CHECK-LABEL: @activation
// CHECK: dlc.fusion
// CHECK-NEXT: dlc.matmul %{{.*}} {dlc.excess_precision}
// CHECK-NEXT: dlc.gelu
// STRICT-LABEL: @activation
// STRICT: dlc.matmul
// STRICT-NEXT: dlc.yield
// STRICT: dlc.gelu
func.func @activation(%x: tensor<64x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  %0 = dlc.matmul %x, %w : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %1 = dlc.gelu %0 : (tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %1 : tensor<64x64xbf16>
}

// x * sigmoid(x): all readers of the matmul are in the epilogue.
// CHECK-LABEL: @swish
// CHECK: dlc.matmul %{{.*}} {dlc.excess_precision}
// CHECK-NEXT: dlc.sigmoid %{{.*}} {dlc.excess_precision}
// CHECK-NEXT: dlc.mul
// CHECK-NEXT: dlc.yield
// STRICT-LABEL: @swish
// STRICT: dlc.matmul
// STRICT-NEXT: dlc.yield
func.func @swish(%x: tensor<64x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  %0 = dlc.matmul %x, %w : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %1 = dlc.sigmoid %0 : (tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %2 = dlc.mul %0, %1 : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %2 : tensor<64x64xbf16>
}

// The ReLU of a rounded value is the rounded ReLU.
// CHECK-LABEL: @relu
// CHECK: dlc.matmul
// CHECK-NEXT: dlc.relu
// STRICT-LABEL: @relu
// STRICT: dlc.matmul
// STRICT-NEXT: dlc.relu
// STRICT-NEXT: dlc.yield
func.func @relu(%x: tensor<64x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  %0 = dlc.matmul %x, %w : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %1 = dlc.relu %0 : (tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %1 : tensor<64x64xbf16>
}

// If a cast is the only reader of a matmul, it reads the sums in f32, unless they are rounded.
// CHECK-LABEL: @sums
// CHECK: dlc.matmul %{{.*}} {dlc.excess_precision}
// CHECK-NEXT: dlc.cast
// CHECK-NEXT: dlc.add
// CHECK-NEXT: dlc.yield
// STRICT-LABEL: @sums
// STRICT: dlc.matmul
// STRICT-NEXT: dlc.yield
func.func @sums(%x: tensor<64x64xbf16>, %w: tensor<64x64xbf16>, %b: tensor<64xf32>) -> tensor<64x64xf32> {
  %0 = dlc.matmul %x, %w : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
  %1 = dlc.cast %0 to f32 : (tensor<64x64xbf16>) -> tensor<64x64xf32>
  %2 = dlc.add %1, %b : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}

// f32 results are not rounded.
// STRICT-LABEL: @single
// STRICT: dlc.matmul
// STRICT-NEXT: dlc.gelu
func.func @single(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = dlc.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = dlc.gelu %0 : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}
