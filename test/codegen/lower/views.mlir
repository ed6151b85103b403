// RUN: dlc-opt %s -split-input-file -dlc-place -dlc-fuse -dlc-select='threads=1' -dlc-lower='threads=1' | FileCheck %s

// The producers of a concatenation's operands write them in place: no copy.
// CHECK-LABEL: exec.program @main
// CHECK: %[[W:.*]] = exec.output 0 : <64>
// CHECK-NOT: exec.copy
// CHECK: exec.view %[[W]] at 0
// CHECK: exec.launch
// CHECK: exec.view %[[W]] at 32
// CHECK: exec.launch
// CHECK-NOT: exec.copy
func.func @main(%x: tensor<8xf32>) -> tensor<16xf32> {
  %a = dlc.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %b = dlc.tanh %x : (tensor<8xf32>) -> tensor<8xf32>
  %y = dlc.concat 0 (%a, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  return %y : tensor<16xf32>
}

// -----

// In a blocked layout, blocks of channels are adjacent in memory, so that a shorter concatenation is a part of the longer
// one; so is a slice of them.
// CHECK-LABEL: exec.program @main
// CHECK: %[[W:.*]] = exec.alloc : <12288>
// CHECK-NOT: exec.copy
// CHECK: exec.view %[[W]] at 0 : <12288> -> <4096>
// CHECK-NOT: exec.copy
// CHECK: exec.view %[[W]] at 4096 : <12288> -> <4096>
// CHECK-NOT: exec.copy
// CHECK: exec.view %[[W]] at 0 : <12288> -> <8192>
// CHECK-NOT: exec.copy
// CHECK: exec.view %[[W]] at 8192 : <12288> -> <4096>
// CHECK-NOT: exec.copy
// CHECK: exec.library {{.*}}(%[[W]],
func.func @main(%x: tensor<1x16x8x8xf32, #dlc.on<cpu>>) -> (tensor<1x48x8x8xf32, #dlc.on<cpu>>, tensor<1x16x8x8xf32, #dlc.on<cpu>>) {
  %b = dlc.reorder %x : (tensor<1x16x8x8xf32, #dlc.on<cpu>>) -> tensor<1x16x8x8xf32, #dlc.on<cpu, aBcd16b>>
  %0 = dlc.exp %b : (tensor<1x16x8x8xf32, #dlc.on<cpu, aBcd16b>>) -> tensor<1x16x8x8xf32, #dlc.on<cpu, aBcd16b>>
  %1 = dlc.tanh %0 : (tensor<1x16x8x8xf32, #dlc.on<cpu, aBcd16b>>) -> tensor<1x16x8x8xf32, #dlc.on<cpu, aBcd16b>>
  %2 = dlc.concat 1 (%0, %1) : (tensor<1x16x8x8xf32, #dlc.on<cpu, aBcd16b>>, tensor<1x16x8x8xf32, #dlc.on<cpu, aBcd16b>>) -> tensor<1x32x8x8xf32, #dlc.on<cpu, aBcd16b>>
  %3 = dlc.slice %2 start [0, 16, 0, 0] size [1, 16, 8, 8] stride [1, 1, 1, 1] : (tensor<1x32x8x8xf32, #dlc.on<cpu, aBcd16b>>) -> tensor<1x16x8x8xf32, #dlc.on<cpu, aBcd16b>>
  %4 = dlc.sigmoid %3 : (tensor<1x16x8x8xf32, #dlc.on<cpu, aBcd16b>>) -> tensor<1x16x8x8xf32, #dlc.on<cpu, aBcd16b>>
  %5 = dlc.concat 1 (%0, %1, %4) : (tensor<1x16x8x8xf32, #dlc.on<cpu, aBcd16b>>, tensor<1x16x8x8xf32, #dlc.on<cpu, aBcd16b>>, tensor<1x16x8x8xf32, #dlc.on<cpu, aBcd16b>>) -> tensor<1x48x8x8xf32, #dlc.on<cpu, aBcd16b>>
  %y = dlc.reorder %5 : (tensor<1x48x8x8xf32, #dlc.on<cpu, aBcd16b>>) -> tensor<1x48x8x8xf32, #dlc.on<cpu>>
  %z = dlc.reorder %3 : (tensor<1x16x8x8xf32, #dlc.on<cpu, aBcd16b>>) -> tensor<1x16x8x8xf32, #dlc.on<cpu>>
  return %y, %z : tensor<1x48x8x8xf32, #dlc.on<cpu>>, tensor<1x16x8x8xf32, #dlc.on<cpu>>
}

// -----

// A slice along the outermost dimension is a view of the input.
// CHECK-LABEL: exec.program @main
// CHECK: %[[X:.*]] = exec.input 0 : <128>
// CHECK: %[[V:.*]] = exec.view %[[X]] at 64 : <128> -> <32>
// CHECK: exec.launch @{{.*}}(%[[V]],
func.func @main(%x: tensor<4x8xf32>) -> tensor<1x8xf32> {
  %s = dlc.slice %x start [2, 0] size [1, 8] stride [1, 1] : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %y = dlc.exp %s : (tensor<1x8xf32>) -> tensor<1x8xf32>
  return %y : tensor<1x8xf32>
}

// -----

// An input that is returned is copied; one value returned twice is written once and copied once.
// CHECK-LABEL: exec.program @main
// CHECK-DAG: %[[X:.*]] = exec.input 0
// CHECK-DAG: %[[A:.*]] = exec.output 0
// CHECK-DAG: %[[B:.*]] = exec.output 1
// CHECK-DAG: %[[C:.*]] = exec.output 2
// CHECK: exec.launch @{{.*}}(%[[X]], %[[B]])
// CHECK: exec.copy %[[X]] to %[[A]] bytes 32
// CHECK: exec.copy %[[B]] to %[[C]] bytes 32
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %y = dlc.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  return %x, %y, %y : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// A constant that is returned is copied out.
// CHECK-LABEL: exec.program @main
// CHECK: %[[K:.*]] = exec.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK: %[[A:.*]] = exec.output 0
// CHECK: exec.copy %[[K]] to %[[A]] bytes 8
func.func @main() -> tensor<2xf32> {
  %y = dlc.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// Views between layouts share memory, from the inputs to the outputs.
// CHECK-LABEL: exec.program @main
// CHECK: %[[X:.*]] = exec.input 0 : <1024>
// CHECK-NEXT: %[[Y:.*]] = exec.output 0 : <1024>
// CHECK-NEXT: exec.launch @{{.*}}(%[[X]], %[[Y]])
// CHECK-NOT: exec.copy
func.func @main(%x: tensor<1x4x4x16xf32, #dlc.on<cpu>>) -> tensor<1x4x4x16xf32, #dlc.on<cpu>> {
  %0 = dlc.transposed_view %x [0, 3, 1, 2] : (tensor<1x4x4x16xf32, #dlc.on<cpu>>) -> tensor<1x16x4x4xf32, #dlc.on<cpu, acdb>>
  %1 = dlc.relu %0 : (tensor<1x16x4x4xf32, #dlc.on<cpu, acdb>>) -> tensor<1x16x4x4xf32, #dlc.on<cpu, acdb>>
  %2 = dlc.transposed_view %1 [0, 2, 3, 1] : (tensor<1x16x4x4xf32, #dlc.on<cpu, acdb>>) -> tensor<1x4x4x16xf32, #dlc.on<cpu>>
  return %2 : tensor<1x4x4x16xf32, #dlc.on<cpu>>
}
