// RUN: dlc-opt %s --dlc-precision='precision=bf16 precision-of=head*=f32' | FileCheck %s
// RUN: not dlc-opt %s --dlc-precision='precision=bf8' 2>&1 | FileCheck %s --check-prefix=MODE
// RUN: not dlc-opt %s --dlc-precision='precision-of=head' 2>&1 | FileCheck %s --check-prefix=NAME

// MODE: precision 'bf8': required: none, bf16 or f16
// NAME: precision by name: required: PATTERN=f32, PATTERN=bf16 or PATTERN=f16; found 'head'

// Precision by name, also for gradients, and by attribute.
// CHECK-LABEL: @main
// CHECK: dlc.matmul {{.*}} -> tensor<4x4xbf16>
// CHECK: dlc.matmul {{.*}} -> tensor<4x4xf32>
// CHECK: dlc.matmul {{.*}} -> tensor<4x4xf32>
// CHECK: dlc.matmul {{.*}}dlc.precision = "f32"{{.*}} -> tensor<4x4xf32>
// CHECK: dlc.matmul {{.*}}dlc.precision = "f16"{{.*}} -> tensor<4x4xf16>
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = dlc.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("body.0")
  %1 = dlc.matmul %0, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("head.linear")
  %2 = dlc.matmul %1, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("gradient of head.linear")
  %3 = dlc.matmul %2, %x {dlc.precision = "f32"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = dlc.matmul %3, %x {dlc.precision = "f16"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}
