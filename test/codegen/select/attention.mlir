// Attention on CPUs: one kernel if requested, and if its scores would use a large part of the memory limit.
// Otherwise it is decomposed.
// REQUIRES: dlc
// RUN: dlc compile %s --threads 2 --cache none --kernels attention --accuracy strict --to select | FileCheck %s --check-prefix=WHOLE
// RUN: dlc compile %s --threads 2 --cache none --max-memory 192KiB --to select | FileCheck %s --check-prefix=BOUND
// RUN: dlc compile %s --threads 2 --cache none --kernels onednn --to select | FileCheck %s --check-prefix=PARTS
// RUN: env ONEDNN_MAX_CPU_ISA=AVX2 dlc compile %s --threads 2 --cache none --kernels attention --to select | FileCheck %s --check-prefix=AVX2

// With transpositions of its operands and its result.
// WHOLE: dlc.fusion
// WHOLE-SAME: dlc.candidates = [{{[^]]*}}implementation = "attention:avx{{[0-9]+}}", kernel = "attention"{{[^]]*}}], dlc.kernel = "attention"
// WHOLE-COUNT-3: dlc.transpose
// WHOLE: dlc.attention_train
// WHOLE: dlc.transpose
// WHOLE: dlc.attention_grad
// WHOLE-NOT: dlc.matmul

// BOUND: dlc.kernel = "attention"
// BOUND: dlc.attention_train
// BOUND: dlc.attention_grad
// BOUND-NOT: dlc.matmul

// The attention weights are saved for the gradient.
// PARTS-NOT: dlc.attention
// PARTS-COUNT-6: dlc.matmul
// PARTS-NOT: dlc.matmul

// AVX2: dlc.candidates = [{{[^]]*}}implementation = "attention:avx2"{{[^]]*}}]
func.func @main(%q: tensor<1x65x2x16xf32> {dlc.name = "q"}, %k: tensor<1x70x2x16xf32> {dlc.name = "k"}, %v: tensor<1x70x2x24xf32> {dlc.name = "v"}) -> (tensor<1x65x2x16xf32> {dlc.name = "dq"}, tensor<1x70x2x16xf32> {dlc.name = "dk"}, tensor<1x70x2x24xf32> {dlc.name = "dv"}) {
  %0 = dlc.transpose %q [0, 2, 1, 3] : (tensor<1x65x2x16xf32>) -> tensor<1x2x65x16xf32>
  %1 = dlc.transpose %k [0, 2, 1, 3] : (tensor<1x70x2x16xf32>) -> tensor<1x2x70x16xf32>
  %2 = dlc.transpose %v [0, 2, 1, 3] : (tensor<1x70x2x24xf32>) -> tensor<1x2x70x24xf32>
  %3 = dlc.attention %0, %1, %2 {causal, scale = 0.25 : f64} : (tensor<1x2x65x16xf32>, tensor<1x2x70x16xf32>, tensor<1x2x70x24xf32>) -> tensor<1x2x65x24xf32> loc("heads")
  %4 = dlc.mul %3, %3 : (tensor<1x2x65x24xf32>, tensor<1x2x65x24xf32>) -> tensor<1x2x65x24xf32>
  %5 = dlc.reduce sum %4 axes [0, 1, 2, 3] : (tensor<1x2x65x24xf32>) -> tensor<f32>
  %6:3 = dlc.gradient(%5) in (%q, %k, %v) : (tensor<f32>, tensor<1x65x2x16xf32>, tensor<1x70x2x16xf32>, tensor<1x70x2x24xf32>) -> (tensor<1x65x2x16xf32>, tensor<1x70x2x16xf32>, tensor<1x70x2x24xf32>)
  return %6#0, %6#1, %6#2 : tensor<1x65x2x16xf32>, tensor<1x70x2x16xf32>, tensor<1x70x2x24xf32>
}
