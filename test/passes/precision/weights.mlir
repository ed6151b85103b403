// RUN: dlc-opt %s -dlc-weights=weights=bf16 2>/dev/null | FileCheck %s --check-prefix=BF16
// RUN: dlc-opt %s -dlc-weights=weights=int8 2>/dev/null | FileCheck %s --check-prefix=INT8
// RUN: dlc-opt %s -dlc-weights=weights=int8 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not dlc-opt %s -dlc-weights=weights=int4 2>&1 | FileCheck %s --check-prefix=WRONG

// Constants of products; not others' operands, small ones, or those of a product that wants its sums exact.
// BF16-LABEL: @main
// BF16-DAG: %[[W:.*]] = dlc.constant dense<{{.*}}> : tensor<64x128xbf16>
// BF16: %[[C:.*]] = dlc.cast %[[W]] to f32 : (tensor<64x128xbf16>) -> tensor<64x128xf32>
// BF16: dlc.matmul %{{.*}}, %[[C]] :
// BF16: dlc.matmul %{{.*}} : (tensor<1x128xf32>, tensor<128x4xf32>)
// BF16: dlc.matmul %{{.*}} : (tensor<1x128xf32>, tensor<128x96xf32>)
// BF16: dlc.mul %{{.*}} : (tensor<64x96xf32>

// INT8-LABEL: @main
// INT8-DAG: %[[W:.*]] = dlc.constant dense<127> : tensor<64x128xi8>
// INT8-DAG: %[[S:.*]] = dlc.constant dense<{{.*}}> : tensor<128xf32>
// INT8: %[[C:.*]] = dlc.cast %[[W]] to f32 : (tensor<64x128xi8>) -> tensor<64x128xf32>
// INT8: %[[P:.*]] = dlc.matmul %{{.*}}, %[[C]] :
// INT8: %[[Y:.*]] = dlc.mul %[[P]], %[[S]]
// INT8: dlc.matmul %[[Y]],
// REMARK: remark: 1 weights are kept in int8: 0.0 MiB instead of 0.0; lost:
// WRONG: error: weights 'int4': required: f32, bf16 or int8
func.func @main(%x: tensor<1x64xf32>, %z: tensor<64x96xf32>) -> (tensor<1x4xf32>, tensor<1x96xf32>, tensor<64x96xf32>) {
  %w = dlc.constant dense<0.3> : tensor<64x128xf32>
  %small = dlc.constant dense<0.5> : tensor<128x4xf32>
  %exact = dlc.constant dense<0.7> : tensor<128x96xf32>
  %other = dlc.constant dense<0.9> : tensor<64x96xf32>
  %0 = dlc.matmul %x, %w : (tensor<1x64xf32>, tensor<64x128xf32>) -> tensor<1x128xf32>
  %1 = dlc.matmul %0, %small : (tensor<1x128xf32>, tensor<128x4xf32>) -> tensor<1x4xf32>
  %2 = dlc.matmul %0, %exact {dlc.accuracy = "strict"} : (tensor<1x128xf32>, tensor<128x96xf32>) -> tensor<1x96xf32>
  %3 = dlc.mul %z, %other : (tensor<64x96xf32>, tensor<64x96xf32>) -> tensor<64x96xf32>
  return %1, %2, %3 : tensor<1x4xf32>, tensor<1x96xf32>, tensor<64x96xf32>
}
