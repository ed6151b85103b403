// A library multiplies bf16 batch by batch if the rows of the batches are not contiguous in an operand or in the result: 128 matmuls of
// four rows took three times as long as one of 512 rows. The transposition is then a separate kernel, before or after the matmul.
// RUN: dlc compile %s --cache none --to refine --print-after refine --threads 2 --profile zen5 2>&1 | FileCheck %s
// REQUIRES: dlc, avx512

// CHECK-LABEL: func.func @main
// CHECK: dlc.fusion
// CHECK-NEXT: dlc.matmul
// CHECK-NEXT: dlc.add
// CHECK-NEXT: dlc.yield
// CHECK: dlc.fusion
// CHECK-NEXT: dlc.transpose
// CHECK-NEXT: dlc.yield
func.func @main(%x: tensor<4x128x512xbf16>, %w: tensor<512x512xbf16>, %b: tensor<512xbf16>) -> tensor<128x4x512xbf16> {
  %0 = dlc.matmul %x, %w : (tensor<4x128x512xbf16>, tensor<512x512xbf16>) -> tensor<4x128x512xbf16>
  %1 = dlc.add %0, %b : (tensor<4x128x512xbf16>, tensor<512xbf16>) -> tensor<4x128x512xbf16>
  %2 = dlc.transpose %1 [1, 0, 2] : (tensor<4x128x512xbf16>) -> tensor<128x4x512xbf16>
  return %2 : tensor<128x4x512xbf16>
}
