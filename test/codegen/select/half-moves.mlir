// f16 data is reordered as bf16, for which the library has fast code, bit by bit: subnormals are not changed.
// RUN: dlc compile %s --cache none --kernels onednn --to select --print-after select 2>&1 | FileCheck %s
// RUN: %python -c "import numpy as np; np.save('%t.npy', np.arange(1, 13, dtype=np.uint16).reshape(4, 3).view(np.float16))"
// RUN: dlc run %s --cache none --kernels onednn --input x=%t.npy | FileCheck %s --check-prefix=RESULT
// REQUIRES: dlc, avx512

// CHECK-NOT: simple:any
// CHECK: dlc.transpose
// RESULT: f16 3x4 in [5.96046e-08, 7.15256e-07]: 5.96046e-08 2.38419e-07 4.17233e-07
func.func @main(%x: tensor<4x3xf16> {dlc.name = "x"}) -> tensor<3x4xf16> {
  %y = dlc.transpose %x [1, 0] : (tensor<4x3xf16>) -> tensor<3x4xf16>
  return %y : tensor<3x4xf16>
}
