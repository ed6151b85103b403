// The vectorized pool handles one-dimensional channels-last data as images of one row; the results are those of the plain layout.
// RUN: dlc compile %s --cache none --from fuse --to select --print-after select 2>&1 | FileCheck %s
// RUN: dlc run %s --cache none | FileCheck %s --check-prefix=RESULT
// REQUIRES: dlc, fma

// CHECK: implementation = "builtin:lane_pool"
// CHECK-NEXT: dlc.max_pool_positions {{.*}}#dlc.on<cpu, aBc16b>>
// RESULT: f32 2x32x149 in [0, 0]
// RESULT: f32 2x32x149 in [0, 0]
func.func @main(%x: tensor<2x32x600xf32, #dlc.on<cpu>>) -> (tensor<2x32x149xf32, #dlc.on<cpu>>, tensor<2x32x149xf32, #dlc.on<cpu>>) {
  %0 = dlc.reorder %x : (tensor<2x32x600xf32, #dlc.on<cpu>>) -> tensor<2x32x600xf32, #dlc.on<cpu, aBc16b>>
  %y, %p = dlc.max_pool_positions %0 {window = array<i64: 7>, strides = array<i64: 4>, dilations = array<i64: 1>, low = array<i64: 2>, high = array<i64: 0>} : (tensor<2x32x600xf32, #dlc.on<cpu, aBc16b>>) -> (tensor<2x32x149xf32, #dlc.on<cpu, aBc16b>>, tensor<2x32x149xui8, #dlc.on<cpu, aBc16b>>)
  %1 = dlc.reorder %y : (tensor<2x32x149xf32, #dlc.on<cpu, aBc16b>>) -> tensor<2x32x149xf32, #dlc.on<cpu>>
  %z, %q = dlc.max_pool_positions %x {window = array<i64: 7>, strides = array<i64: 4>, dilations = array<i64: 1>, low = array<i64: 2>, high = array<i64: 0>} : (tensor<2x32x600xf32, #dlc.on<cpu>>) -> (tensor<2x32x149xf32, #dlc.on<cpu>>, tensor<2x32x149xui8, #dlc.on<cpu>>)
  %2 = dlc.sub %1, %z : (tensor<2x32x149xf32, #dlc.on<cpu>>, tensor<2x32x149xf32, #dlc.on<cpu>>) -> tensor<2x32x149xf32, #dlc.on<cpu>>
  %3 = dlc.reorder %p : (tensor<2x32x149xui8, #dlc.on<cpu, aBc16b>>) -> tensor<2x32x149xui8, #dlc.on<cpu>>
  %4 = dlc.cast %3 to f32 : (tensor<2x32x149xui8, #dlc.on<cpu>>) -> tensor<2x32x149xf32, #dlc.on<cpu>>
  %5 = dlc.cast %q to f32 : (tensor<2x32x149xui8, #dlc.on<cpu>>) -> tensor<2x32x149xf32, #dlc.on<cpu>>
  %6 = dlc.sub %4, %5 : (tensor<2x32x149xf32, #dlc.on<cpu>>, tensor<2x32x149xf32, #dlc.on<cpu>>) -> tensor<2x32x149xf32, #dlc.on<cpu>>
  return %2, %6 : tensor<2x32x149xf32, #dlc.on<cpu>>, tensor<2x32x149xf32, #dlc.on<cpu>>
}
