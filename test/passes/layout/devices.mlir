// Layouts on several devices: unchanged between CPU devices, plain for other transfers.
// RUN: dlc-opt %s --dlc-layout=costs=assumed --dlc-verify-layout --dlc-verify-placement --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @cpus
func.func @cpus(%x: tensor<1x64x14x14xf32, #dlc.on<cpu>>, %w: tensor<64x64x3x3xf32, #dlc.on<cpu>>, %v: tensor<64x64x3x3xf32, #dlc.on<cpu:1>>) -> tensor<1x64x14x14xf32, #dlc.on<cpu:1>> {
  // CHECK: dlc.conv {{.*}} -> tensor<1x64x14x14xf32, #dlc.on<cpu, [[TAG:a[a-zA-Z0-9]+]]>>
  // CHECK-NEXT: dlc.transfer {{.*}} -> tensor<1x64x14x14xf32, #dlc.on<cpu:1, [[TAG]]>>
  // CHECK-NEXT: dlc.conv {{.*}} -> tensor<1x64x14x14xf32, #dlc.on<cpu:1, [[TAG]]>>
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x14x14xf32, #dlc.on<cpu>>, tensor<64x64x3x3xf32, #dlc.on<cpu>>) -> tensor<1x64x14x14xf32, #dlc.on<cpu>>
  %1 = dlc.transfer %0 : (tensor<1x64x14x14xf32, #dlc.on<cpu>>) -> tensor<1x64x14x14xf32, #dlc.on<cpu:1>>
  %2 = dlc.conv %1, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x14x14xf32, #dlc.on<cpu:1>>, tensor<64x64x3x3xf32, #dlc.on<cpu:1>>) -> tensor<1x64x14x14xf32, #dlc.on<cpu:1>>
  return %2 : tensor<1x64x14x14xf32, #dlc.on<cpu:1>>
}

// -----

// CHECK-LABEL: func.func @cuda
func.func @cuda(%x: tensor<1x64x14x14xf32, #dlc.on<cpu>>, %w: tensor<64x64x3x3xf32, #dlc.on<cpu>>, %v: tensor<64x64x3x3xf32, #dlc.on<cuda:0>>) -> tensor<1x64x14x14xf32, #dlc.on<cuda:0>> {
  // CHECK: dlc.conv {{.*}} -> tensor<1x64x14x14xf32, #dlc.on<cpu, {{.*}}>>
  // CHECK-NEXT: dlc.reorder {{.*}} -> tensor<1x64x14x14xf32, #dlc.on<cpu>>
  // CHECK-NEXT: dlc.transfer {{.*}} -> tensor<1x64x14x14xf32, #dlc.on<cuda:0>>
  // CHECK-NEXT: dlc.conv {{.*}} -> tensor<1x64x14x14xf32, #dlc.on<cuda:0>>
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x14x14xf32, #dlc.on<cpu>>, tensor<64x64x3x3xf32, #dlc.on<cpu>>) -> tensor<1x64x14x14xf32, #dlc.on<cpu>>
  %1 = dlc.transfer %0 : (tensor<1x64x14x14xf32, #dlc.on<cpu>>) -> tensor<1x64x14x14xf32, #dlc.on<cuda:0>>
  %2 = dlc.conv %1, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x14x14xf32, #dlc.on<cuda:0>>, tensor<64x64x3x3xf32, #dlc.on<cuda:0>>) -> tensor<1x64x14x14xf32, #dlc.on<cuda:0>>
  return %2 : tensor<1x64x14x14xf32, #dlc.on<cuda:0>>
}
