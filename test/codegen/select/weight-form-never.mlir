// f32 copies of the weights make this matmul faster. With `--dequantize-weights never`, it reads quantized weights.
// RUN: dlc compile %s --cache none --threads 1 --to select --print-after select 2>&1 | FileCheck %s --check-prefix=AUTO
// RUN: dlc compile %s --cache none --threads 1 --dequantize-weights never --to select --print-after select 2>&1 | FileCheck %s
// RUN: not dlc compile %s --cache none --dequantize-weights sometimes -o %t.dlcx 2>&1 | FileCheck %s --check-prefix=WRONG
// REQUIRES: dlc, fma

// AUTO-NOT: dlc.quantized_weights
// CHECK: dlc.fusion{{.*}}dlc.kernel = "blocks"
// CHECK: dlc.quantized_weights
// WRONG: --dequantize-weights 'sometimes': required: auto or never
func.func @main(%x: tensor<256x384xf32>) -> tensor<256x384xf32> {
  %w = dlc.constant dense<3> : tensor<384x384xi8>
  %s = dlc.constant dense<0.01> : tensor<384x1xf32>
  %d = dlc.dequantize %w, %s : (tensor<384x384xi8>, tensor<384x1xf32>) -> tensor<384x384xf32>
  %y = dlc.matmul %x, %d transpose_b : (tensor<256x384xf32>, tensor<384x384xf32>) -> tensor<256x384xf32>
  return %y : tensor<256x384xf32>
}
