// RUN: dlc-opt %s -dlc-buckets -split-input-file | FileCheck %s

// Buckets in the order in which gradients are written, not in the order of their reductions; scalars are separate.
// CHECK-LABEL: @main
// CHECK: %[[A:.*]] = dlc.neg %arg0
// CHECK: %[[B:.*]] = dlc.exp %arg1
// CHECK-DAG: %[[FA:.*]] = dlc.reshape %[[A]] : (tensor<2x3xf32>) -> tensor<6xf32>
// CHECK: %[[ALL:.*]] = dlc.concat 0(%[[FA]], %[[B]]) : (tensor<6xf32>, tensor<4xf32>) -> tensor<10xf32>
// CHECK: %[[SUM:.*]] = dlc.all_reduce mean %[[ALL]] : (tensor<10xf32>) -> tensor<10xf32>
// CHECK: dlc.slice %[[SUM]]
// CHECK: dlc.slice %[[SUM]]
// CHECK: dlc.tanh
// CHECK: dlc.all_reduce mean %{{.*}} : (tensor<f32>) -> tensor<f32>
// CHECK-NOT: dlc.all_reduce
func.func @main(%x: tensor<2x3xf32>, %y: tensor<4xf32>, %l: tensor<f32>) -> (tensor<2x3xf32>, tensor<4xf32>, tensor<f32>) {
  %a = dlc.neg %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = dlc.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  %c = dlc.tanh %l : (tensor<f32>) -> tensor<f32>
  %0 = dlc.all_reduce mean %b : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dlc.all_reduce mean %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = dlc.all_reduce mean %c : (tensor<f32>) -> tensor<f32>
  return %1, %0, %2 : tensor<2x3xf32>, tensor<4xf32>, tensor<f32>
}
// -----
// Buckets of 32 bytes in ranges of 48: a single buffer needs no range.
module attributes {dlc.buckets = array<i64: 32, 48>} {
  // CHECK-LABEL: @sizes
  // CHECK: %[[RANGE:.*]] = dlc.concat 0({{.*}}) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<12xf32>
  // CHECK: %[[FIRST:.*]] = dlc.slice %[[RANGE]] {{.*}} -> tensor<8xf32>
  // CHECK: dlc.all_reduce sum %[[FIRST]] : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: %[[SECOND:.*]] = dlc.slice %[[RANGE]] {{.*}} -> tensor<4xf32>
  // CHECK: dlc.all_reduce sum %[[SECOND]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %[[LAST:.*]] = dlc.sigmoid
  // CHECK: dlc.all_reduce sum %[[LAST]] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NOT: dlc.all_reduce
  func.func @sizes(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %a = dlc.neg %x : (tensor<4xf32>) -> tensor<4xf32>
    %b = dlc.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    %c = dlc.tanh %b : (tensor<4xf32>) -> tensor<4xf32>
    %d = dlc.sigmoid %c : (tensor<4xf32>) -> tensor<4xf32>
    %0 = dlc.all_reduce sum %a : (tensor<4xf32>) -> tensor<4xf32>
    %1 = dlc.all_reduce sum %b : (tensor<4xf32>) -> tensor<4xf32>
    %2 = dlc.all_reduce sum %c : (tensor<4xf32>) -> tensor<4xf32>
    %3 = dlc.all_reduce sum %d : (tensor<4xf32>) -> tensor<4xf32>
    return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}
// -----
// An all-reduce whose result is read before the other operand is written is not combined.
// CHECK-LABEL: @chain
// CHECK-COUNT-2: dlc.all_reduce sum %{{.*}} : (tensor<4xf32>) -> tensor<4xf32>
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = dlc.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %0 = dlc.all_reduce sum %a : (tensor<4xf32>) -> tensor<4xf32>
  %b = dlc.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dlc.all_reduce sum %b : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
// -----
// Each gradient is cast when it is written, not when the bucket is complete.
// CHECK-LABEL: @casts
// CHECK: %[[A:.*]] = dlc.neg
// CHECK-NEXT: %[[CA:.*]] = dlc.cast %[[A]]
// CHECK-NEXT: %[[B:.*]] = dlc.exp
// CHECK-NEXT: %[[CB:.*]] = dlc.cast %[[B]]
// CHECK-NEXT: %[[ALL:.*]] = dlc.concat 0(%[[CA]], %[[CB]]) : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<8xbf16>
// CHECK-NEXT: dlc.all_reduce mean %[[ALL]] : (tensor<8xbf16>) -> tensor<8xbf16>
// CHECK: dlc.tanh
func.func @casts(%x: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xbf16>, tensor<4xf32>) {
  %a = dlc.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %b = dlc.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %c = dlc.tanh %b : (tensor<4xf32>) -> tensor<4xf32>
  %0 = dlc.cast %a to bf16 : (tensor<4xf32>) -> tensor<4xbf16>
  %1 = dlc.cast %b to bf16 : (tensor<4xf32>) -> tensor<4xbf16>
  %2 = dlc.all_reduce mean %0 : (tensor<4xbf16>) -> tensor<4xbf16>
  %3 = dlc.all_reduce mean %1 : (tensor<4xbf16>) -> tensor<4xbf16>
  return %2, %3, %c : tensor<4xbf16>, tensor<4xbf16>, tensor<4xf32>
}
