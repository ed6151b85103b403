// Operations that no kernel supports, and that cannot be split, are reported with the reason of each provider.
// RUN: not dlc-opt %s -dlc-select -dlc-refine 2>&1 | FileCheck %s
// REQUIRES: dlc-opt

// CHECK: unsupported.mlir:[[@LINE+2]]:{{[0-9]+}}: error: no kernel supports this operation; {{.*}}attention: required: attention of f32 or bf16; found: f64
func.func @main(%q: tensor<2x4x8xf64>, %k: tensor<2x4x8xf64>, %v: tensor<2x4x8xf64>) -> tensor<2x4x8xf64> {
  %y = dlc.fusion(%a = %q, %b = %k, %c = %v) : (tensor<2x4x8xf64>, tensor<2x4x8xf64>, tensor<2x4x8xf64>) -> tensor<2x4x8xf64> {
    %0 = dlc.attention %a, %b, %c {scale = 0.5 : f64} : (tensor<2x4x8xf64>, tensor<2x4x8xf64>, tensor<2x4x8xf64>) -> tensor<2x4x8xf64>
    dlc.yield %0 : tensor<2x4x8xf64>
  }
  return %y : tensor<2x4x8xf64>
}
