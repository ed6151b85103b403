// RUN: dlc-opt %s -dlc-split='split=fc1.*=columns split=fc2.weight=rows split=q?=columns split=table=rows split=wide=columns split=qkv=columns:3 world=2' -split-input-file | FileCheck %s --check-prefix=CHECK
// RUN: dlc-opt %s -dlc-split -split-input-file | FileCheck %s --check-prefix=WHOLE
// WHOLE-NOT: dlc.own_rows
// WHOLE-NOT: dlc.all_reduce

// Two matmuls: the values between them are split, and one all-reduce gives the complete result.
// CHECK-LABEL: @main
// CHECK-SAME: %arg1: tensor<8x8xf32> {dlc.name = "fc1.weight", dlc.parameter, dlc.part = array<i64: 1, 2, 1>}
// CHECK-SAME: %arg2: tensor<8xf32> {dlc.name = "fc1.bias", dlc.parameter, dlc.part = array<i64: 0, 2, 1>}
// CHECK-SAME: %arg3: tensor<8x8xf32> {dlc.name = "fc2.weight", dlc.parameter, dlc.part = array<i64: 0, 2, 1>}
// CHECK: dlc.matmul %arg0, %arg1 : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
// CHECK: dlc.add %{{.*}}, %arg2
// CHECK: dlc.gelu
// CHECK: %[[TERMS:.*]] = dlc.matmul %{{.*}}, %arg3
// CHECK: %[[Y:.*]] = dlc.all_reduce sum %[[TERMS]] of 2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: dlc.add %[[Y]], %arg4
// CHECK-NOT: dlc.all_reduce
func.func @main(%x: tensor<4x8xf32> {dlc.name = "x"}, %w1: tensor<8x16xf32> {dlc.name = "fc1.weight", dlc.parameter},
                %b1: tensor<16xf32> {dlc.name = "fc1.bias", dlc.parameter}, %w2: tensor<16x8xf32> {dlc.name = "fc2.weight", dlc.parameter},
                %b2: tensor<8xf32> {dlc.name = "fc2.bias", dlc.parameter}, %other: tensor<2x8xf32> {dlc.name = "table", dlc.parameter},
                %q: tensor<2xf32> {dlc.name = "qk", dlc.parameter}, %wide: tensor<2xf32> {dlc.name = "wide", dlc.parameter},
                %qkv: tensor<6xf32> {dlc.name = "qkv", dlc.parameter}) -> tensor<4x8xf32> {
  %0 = dlc.matmul %x, %w1 : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = dlc.add %0, %b1 : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %2 = dlc.gelu %1 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %3 = dlc.matmul %2, %w2 : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %y = dlc.add %3, %b2 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
