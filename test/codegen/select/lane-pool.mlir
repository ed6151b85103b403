// The vectorized pool also supports max pooling of 8-bit values with channels last.
// RUN: dlc compile %s --cache none --from fuse --to select --print-after select 2>&1 | FileCheck %s
// REQUIRES: dlc

// CHECK: dlc.candidates = [{{.*}}implementation = "builtin:lane_pool"{{.*}}
// CHECK-NEXT: dlc.max_pool {{.*}}xui8, #dlc.on<cpu, acdb>>
// CHECK: dlc.candidates = [{{.*}}implementation = "builtin:lane_pool"{{.*}}
// CHECK-NEXT: dlc.max_pool {{.*}}xi8, #dlc.on<cpu, acdb>>
func.func @main(%x: tensor<1x24x14x14xui8, #dlc.on<cpu>>, %y: tensor<1x24x14x14xi8, #dlc.on<cpu>>) -> (tensor<1x24x14x14xui8, #dlc.on<cpu>>, tensor<1x24x14x14xi8, #dlc.on<cpu>>) {
  %0 = dlc.reorder %x : (tensor<1x24x14x14xui8, #dlc.on<cpu>>) -> tensor<1x24x14x14xui8, #dlc.on<cpu, acdb>>
  %1 = dlc.max_pool %0 {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>} : (tensor<1x24x14x14xui8, #dlc.on<cpu, acdb>>) -> tensor<1x24x14x14xui8, #dlc.on<cpu, acdb>>
  %2 = dlc.reorder %1 : (tensor<1x24x14x14xui8, #dlc.on<cpu, acdb>>) -> tensor<1x24x14x14xui8, #dlc.on<cpu>>
  %3 = dlc.reorder %y : (tensor<1x24x14x14xi8, #dlc.on<cpu>>) -> tensor<1x24x14x14xi8, #dlc.on<cpu, acdb>>
  %4 = dlc.max_pool %3 {window = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>} : (tensor<1x24x14x14xi8, #dlc.on<cpu, acdb>>) -> tensor<1x24x14x14xi8, #dlc.on<cpu, acdb>>
  %5 = dlc.reorder %4 : (tensor<1x24x14x14xi8, #dlc.on<cpu, acdb>>) -> tensor<1x24x14x14xi8, #dlc.on<cpu>>
  return %2, %5 : tensor<1x24x14x14xui8, #dlc.on<cpu>>, tensor<1x24x14x14xi8, #dlc.on<cpu>>
}
