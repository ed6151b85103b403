// Transfers and reorders do not change values; random numbers are the same on all devices.
// RUN: dlc-opt %s --dlc-evaluate | FileCheck %s

// CHECK-LABEL: @moves()
// CHECK-NEXT: dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32, #dlc.on<cpu:1>>
// CHECK-NEXT: dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xi8, #dlc.on<cpu, ba>>
func.func @moves() -> (tensor<2xf32, #dlc.on<cpu:1>>, tensor<2x2xi8, #dlc.on<cpu, ba>>) {
  %x = dlc.constant dense<[1.0, 2.0]> : tensor<2xf32, #dlc.on<cpu>>
  %y = dlc.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8, #dlc.on<cpu>>
  %0 = dlc.transfer %x : (tensor<2xf32, #dlc.on<cpu>>) -> tensor<2xf32, #dlc.on<cpu:1>>
  %1 = dlc.reorder %y : (tensor<2x2xi8, #dlc.on<cpu>>) -> tensor<2x2xi8, #dlc.on<cpu, ba>>
  return %0, %1 : tensor<2xf32, #dlc.on<cpu:1>>, tensor<2x2xi8, #dlc.on<cpu, ba>>
}

// For an all-zero key and counter, Philox 4x32-10 gives the words 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
// Only their first 24 (11, 8) bits are used.
// CHECK-LABEL: @uniform()
// CHECK-NEXT: dense<[6694888, 14772677, 12343212, 10158299]>
// CHECK-NEXT: dense<[817, 1803, 1506, 1240]>
// CHECK-NEXT: dense<[102, 225, 188, 155]>
func.func @uniform() -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %zero = dlc.constant dense<0> : tensor<i64>
  %0 = dlc.random uniform %zero seed 0 : (tensor<i64>) -> tensor<4xf32>
  %1 = dlc.random uniform %zero seed 0 : (tensor<i64>) -> tensor<4xf16>
  %2 = dlc.random uniform %zero seed 0 : (tensor<i64>) -> tensor<4xbf16>
  %a = dlc.constant dense<16777216.0> : tensor<f32>
  %b = dlc.constant dense<2048.0> : tensor<f16>
  %c = dlc.constant dense<256.0> : tensor<bf16>
  %3 = dlc.mul %0, %a : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = dlc.mul %1, %b : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  %5 = dlc.mul %2, %c : (tensor<4xbf16>, tensor<bf16>) -> tensor<4xbf16>
  %6 = dlc.cast %3 to i32 : (tensor<4xf32>) -> tensor<4xi32>
  %7 = dlc.cast %4 to i32 : (tensor<4xf16>) -> tensor<4xi32>
  %8 = dlc.cast %5 to i32 : (tensor<4xbf16>) -> tensor<4xi32>
  return %6, %7, %8 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}

// A longer result has the same beginning; its sixth element is the second word of block 1, whose words are f8e4cca4 5cb200db ...
// CHECK-LABEL: @blocks()
// CHECK-NEXT: dense<[6694888, 6074880]>
func.func @blocks() -> tensor<2xi32> {
  %zero = dlc.constant dense<0> : tensor<i64>
  %0 = dlc.random uniform %zero seed 0 : (tensor<i64>) -> tensor<2x3xf32>
  %1 = dlc.reshape %0 : (tensor<2x3xf32>) -> tensor<6xf32>
  %places = dlc.constant dense<[0, 5]> : tensor<2xi64>
  %2 = dlc.gather 0 %1, %places : (tensor<6xf32>, tensor<2xi64>) -> tensor<2xf32>
  %a = dlc.constant dense<16777216.0> : tensor<f32>
  %3 = dlc.mul %2, %a : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %4 = dlc.cast %3 to i32 : (tensor<2xf32>) -> tensor<2xi32>
  return %4 : tensor<2xi32>
}

// Both halves of the seed (5 * 2^32 + 7) and of the counter (2 * 2^32 + 3) are used.
// CHECK-LABEL: @seeds()
// CHECK-NEXT: dense<[8242919, 6836479, 43178, 13498131]>
// CHECK-NEXT: [[Y:dense<.*>]] :
// CHECK-NEXT: [[Y]] :
func.func @seeds() -> (tensor<4xi32>, tensor<4xf32>, tensor<4xf32>) {
  %counter = dlc.constant dense<8589934595> : tensor<i64>
  %0 = dlc.random uniform %counter seed 21474836487 : (tensor<i64>) -> tensor<4xf32>
  %a = dlc.constant dense<16777216.0> : tensor<f32>
  %1 = dlc.mul %0, %a : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = dlc.cast %1 to i32 : (tensor<4xf32>) -> tensor<4xi32>
  %3 = dlc.random normal %counter seed 21474836487 : (tensor<i64>) -> tensor<4xf32>
  %expected = dlc.constant dense<[-9.963892698e-01, 6.546317339e-01, 1.160577655e+00, -3.252369165e+00]> : tensor<4xf32>
  return %2, %3, %expected : tensor<4xi32>, tensor<4xf32>, tensor<4xf32>
}
