// Blocked attention may use matmuls of bf16 parts; an operation named strict keeps sums as written, in one kernel.
// REQUIRES: dlc
// RUN: dlc compile %s --threads 2 --cache none --accuracy 'heads=strict' --to select | FileCheck %s --check-prefix=STRICT
// RUN: dlc compile %s --threads 2 --cache none --kernels generated --to select | FileCheck %s --check-prefix=PARTS

// STRICT: dlc.candidates = [{{[^]]*}}implementation = "attention:avx{{[0-9]+}}"{{[^]]*}}]
// STRICT: dlc.attention{{.*}}dlc.accuracy = "strict"
// PARTS-NOT: dlc.attention
// PARTS-COUNT-2: dlc.matmul
func.func @main(%q: tensor<12x4096x64xf32> {dlc.name = "q"}, %k: tensor<12x4096x64xf32> {dlc.name = "k"}, %v: tensor<12x4096x64xf32> {dlc.name = "v"}) -> (tensor<12x4096x64xf32> {dlc.name = "y"}) {
  %0 = dlc.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<12x4096x64xf32>, tensor<12x4096x64xf32>, tensor<12x4096x64xf32>) -> tensor<12x4096x64xf32> loc("heads")
  return %0 : tensor<12x4096x64xf32>
}
