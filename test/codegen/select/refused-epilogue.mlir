// oneDNN has no softsign, so that it refuses the fusion. Kernels of dlc compute it in their epilogue.
// RUN: dlc compile %s --threads 1 --cache none --kernels onednn --to select | FileCheck %s --check-prefix=REFUSED
// RUN: dlc compile %s --threads 1 --cache none --kernels contract --to select | FileCheck %s --check-prefix=OWN

// REFUSED: dlc.refused = "{{[^"]*}}onednn: oneDNN has no epilogue op softsign
// OWN: dlc.kernel = "contract"
// OWN-NOT: dlc.kernel
func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>) -> tensor<64x16xf32> {
  %one = dlc.constant dense<1.0> : tensor<f32>
  %0 = dlc.matmul %x, %w : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %1 = dlc.abs %0 : (tensor<64x16xf32>) -> tensor<64x16xf32>
  %2 = dlc.add %1, %one : (tensor<64x16xf32>, tensor<f32>) -> tensor<64x16xf32>
  %3 = dlc.div %0, %2 : (tensor<64x16xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
  return %3 : tensor<64x16xf32>
}
