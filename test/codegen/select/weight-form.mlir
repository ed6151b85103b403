// A matmul of one row reads quantized weights, which saves weight bandwidth. With many rows, f32 weights are faster on processors without VNNI.
// RUN: dlc compile %s --cache none --threads 1 --to select --print-after select 2>&1 | FileCheck %s
// RUN: dlc compile %s --cache none --threads 1 --dequantize-weights never --to select --print-after select 2>&1 | FileCheck %s --check-prefix=NEVER
// RUN: dlc run %s --cache none | FileCheck %s --check-prefix=RESULT
// REQUIRES: dlc, fma, !vnni

// CHECK: dlc.fusion{{.*}}tensor<1x384xf32{{.*}} dlc.kernel = "blocks"
// CHECK: dlc.quantized_weights
// CHECK: dlc.fusion{{.*}}tensor<384x384xf32{{.*}}tensor<256x384xf32
// CHECK-NOT: dlc.kernel = "blocks"
// CHECK-NOT: dlc.quantized_weights
// CHECK: return
// NEVER-COUNT-2: dlc.quantized_weights
// RESULT: f32 1x384
// RESULT: f32 256x384

func.func @main(%x: tensor<1x384xf32>, %more: tensor<256x384xf32>) -> (tensor<1x384xf32>, tensor<256x384xf32>) {
  %w = dlc.constant dense<3> : tensor<384x384xi8>
  %s = dlc.constant dense<0.01> : tensor<384x12xf32>
  %d = dlc.dequantize %w, %s axis 1 block_size 32 : (tensor<384x384xi8>, tensor<384x12xf32>) -> tensor<384x384xf32>
  %y = dlc.matmul %x, %d transpose_b : (tensor<1x384xf32>, tensor<384x384xf32>) -> tensor<1x384xf32>
  %z = dlc.matmul %more, %d transpose_b : (tensor<256x384xf32>, tensor<384x384xf32>) -> tensor<256x384xf32>
  return %y, %z : tensor<1x384xf32>, tensor<256x384xf32>
}
