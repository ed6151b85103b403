// If the estimates of quantized and f32 weights are close, tuning measures both, and the program has the faster one. Programs are compiled with known measurements alike.
// REQUIRES: dlc, fma
// RUN: rm -rf %t && mkdir -p %t
// RUN: dlc tune %s --threads 1 --cache none --db %t/db.jsonl --spread 1ms
// RUN: grep quantized_weights %t/db.jsonl | FileCheck %s --check-prefix=QUANTIZED
// RUN: grep -v quantized_weights %t/db.jsonl | FileCheck %s --check-prefix=FLOATS
// RUN: dlc compile %s --threads 1 --cache none --db %t/db.jsonl --to select --print-after select 2>&1 | FileCheck %s --check-prefix=ONE
// ALLOW_RETRIES: 2

// QUANTIZED: tensor<64x384xf32{{.*}}dlc.dequantize{{.*}}"blocks
// FLOATS: tensor<64x384xf32{{.*}}tensor<384x384xf32
// ONE: dlc.fusion
// ONE-NOT: dlc.fusion
// ONE: return
func.func @main(%x: tensor<64x384xf32>) -> tensor<64x384xf32> {
  %w = dlc.constant dense<3> : tensor<384x384xi8>
  %s = dlc.constant dense<0.01> : tensor<384x12xf32>
  %d = dlc.dequantize %w, %s axis 1 block_size 32 : (tensor<384x384xi8>, tensor<384x12xf32>) -> tensor<384x384xf32>
  %y = dlc.matmul %x, %d transpose_b : (tensor<64x384xf32>, tensor<384x384xf32>) -> tensor<64x384xf32>
  return %y : tensor<64x384xf32>
}
