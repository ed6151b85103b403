// The statistics for batch normalisation of a training step are computed while a Winograd convolution stores its results,
// after the epilogue: no kernel reads the results again. Operations on the statistics of a channel are a small separate kernel.
// RUN: dlc compile %s --cache none --kernels winograd --to refine --print-after refine 2>&1 | FileCheck %s
// RUN: dlc compile %s --cache none --kernels onednn --to refine --print-after refine 2>&1 | FileCheck %s --check-prefix=APART
// RUN: dlc compile %s --cache none --kernels winograd --accuracy strict --to refine --print-after refine 2>&1 | FileCheck %s --check-prefix=APART
// RUN: dlc compile %s --cache none --kernels winograd --to memory 2>&1 | FileCheck %s --check-prefix=COMMAND
// RUN: dlc inspect %s --cache none --kernels winograd | FileCheck %s --check-prefix=INSPECT
// The choice is measured on the convolution and on the original kernel, with the same result.
// RUN: rm -f %t.jsonl
// RUN: dlc tune %s --cache none --kernels winograd --db %t.jsonl --spread 1ms --budget 2s > /dev/null
// RUN: dlc inspect %s --cache none --kernels winograd --db %t.jsonl | FileCheck %s --check-prefix=INSPECT
// RUN: dlc run %s --cache none --kernels winograd | FileCheck %s --check-prefix=RESULT
// REQUIRES: dlc

// CHECK: %[[Y:.*]]:4 = dlc.fusion
// CHECK-SAME: -> (tensor<4x32x17x15xf32{{[^>]*>}}>, tensor<1x32x1x1xf32{{[^>]*>}}>, tensor<1x32x1x1xf32{{[^>]*>}}>, tensor<1x32x1x1xf32{{[^>]*>}}>)
// CHECK-SAME: dlc.kernel = "winograd"
// CHECK: dlc.conv
// CHECK: %[[RELU:.*]] = dlc.relu
// CHECK: %[[FIRST:.*]] = dlc.slice %[[RELU]]
// CHECK: %[[SHIFT:.*]] = dlc.reduce {{ *}}mean
// CHECK: %[[SQUARE:.*]] = dlc.reduce {{ *}}mean
// CHECK: dlc.yield %[[RELU]], %[[FIRST]], %[[SHIFT]], %[[SQUARE]]
// CHECK: dlc.fusion({{.*}} = %[[Y]]#2, {{.*}} = %[[Y]]#3)
// CHECK-SAME: dlc.kernel = "generated"
// CHECK-NOT: dlc.reduce
// CHECK: return
// APART: dlc.yield {{.*}} : tensor<4x32x17x15xf32
// APART: dlc.fusion({{.*}}) : (tensor<4x32x17x15xf32
// APART: dlc.reduce {{ *}}mean
// APART: dlc.yield {{.*}} : tensor<1x32x1x1xf32
// COMMAND: exec.library "winograd"({{.*}}) writes [2, 3, 4, 5] inplace []
// COMMAND-SAME: \22statistics\22:true
// INSPECT: winograd:{{.*}}:statistics
// RESULT: f32 4x32x17x15

func.func @main(%x: tensor<4x16x17x15xf32>, %w: tensor<32x16x3x3xf32>, %s: tensor<32xf32>, %o: tensor<32xf32>) -> (tensor<4x32x17x15xf32>, tensor<32xf32>, tensor<32xf32>) {
  %c = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<4x16x17x15xf32>, tensor<32x16x3x3xf32>) -> tensor<4x32x17x15xf32>
  %r = dlc.relu %c : (tensor<4x32x17x15xf32>) -> tensor<4x32x17x15xf32>
  %y0, %mean0, %variance0 = dlc.batch_norm_train %r, %s, %o {eps = 1.0e-5 : f64} : (tensor<4x32x17x15xf32>, tensor<32xf32>, tensor<32xf32>) -> (tensor<4x32x17x15xf32>, tensor<32xf32>, tensor<32xf32>)
  return %y0, %mean0, %variance0 : tensor<4x32x17x15xf32>, tensor<32xf32>, tensor<32xf32>
}
