// RUN: dlc-opt %s --dlc-simplify --split-input-file | FileCheck %s

// CHECK-LABEL: @gather
// CHECK: %[[S:.*]] = dlc.slice %arg0 start [2, 0] size [1, 4] stride [1, 1]
// CHECK: dlc.reshape %[[S]] : (tensor<1x4xf32>) -> tensor<4xf32>
func.func @gather(%x: tensor<3x4xf32>) -> tensor<4xf32> {
  %i = dlc.constant dense<-1> : tensor<i64>
  %y = dlc.gather 0 %x, %i : (tensor<3x4xf32>, tensor<i64>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// CHECK-LABEL: @progression
// CHECK: dlc.slice %arg0 start [0, 3] size [3, 2] stride [1, -2]
func.func @progression(%x: tensor<3x4xf32>) -> tensor<3x2xf32> {
  %i = dlc.constant dense<[3, 1]> : tensor<2xi64>
  %y = dlc.gather 1 %x, %i : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// -----

// CHECK-LABEL: @slice_of_concat
// CHECK: dlc.slice %arg1 start [1, 0] size [1, 4]
func.func @slice_of_concat(%a: tensor<3x4xf32>, %b: tensor<3x4xf32>) -> tensor<1x4xf32> {
  %c = dlc.concat 0 (%a, %b) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<6x4xf32>
  %y = dlc.slice %c start [4, 0] size [1, 4] stride [1, 1] : (tensor<6x4xf32>) -> tensor<1x4xf32>
  return %y : tensor<1x4xf32>
}

// -----

// CHECK-LABEL: @needless_broadcast
// CHECK-NEXT: dlc.add %arg0, %arg1
func.func @needless_broadcast(%a: tensor<3x4xf32>, %b: tensor<4xf32>) -> tensor<3x4xf32> {
  %e = dlc.broadcast %b : (tensor<4xf32>) -> tensor<3x4xf32>
  %y = dlc.add %a, %e : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// If a stacked dimension is merged with the following ones, the stack becomes a concatenation.

// CHECK-LABEL: @merged_stack
// CHECK: %[[A:.*]] = dlc.reshape %arg0 : (tensor<2x1x3x4xf32>) -> tensor<2x1x12xf32>
// CHECK: %[[B:.*]] = dlc.reshape %arg1 : (tensor<2x1x3x4xf32>) -> tensor<2x1x12xf32>
// CHECK: dlc.concat 2(%[[A]], %[[B]]) : {{.*}} -> tensor<2x1x24xf32>
func.func @merged_stack(%a: tensor<2x1x3x4xf32>, %b: tensor<2x1x3x4xf32>) -> tensor<2x1x24xf32> {
  %c = dlc.concat 1 (%a, %b) : (tensor<2x1x3x4xf32>, tensor<2x1x3x4xf32>) -> tensor<2x2x3x4xf32>
  %y = dlc.reshape %c : (tensor<2x2x3x4xf32>) -> tensor<2x1x24xf32>
  return %y : tensor<2x1x24xf32>
}

// -----

// If it is merged with the preceding ones, the elements are interleaved.

// CHECK-LABEL: @interleaved_stack
// CHECK: dlc.concat 2
// CHECK-NEXT: dlc.reshape
func.func @interleaved_stack(%a: tensor<2x3x1xf32>, %b: tensor<2x3x1xf32>) -> tensor<2x6xf32> {
  %c = dlc.concat 2 (%a, %b) : (tensor<2x3x1xf32>, tensor<2x3x1xf32>) -> tensor<2x3x2xf32>
  %y = dlc.reshape %c : (tensor<2x3x2xf32>) -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// -----

// If the new dimension remains, the stack is not changed.

// CHECK-LABEL: @kept_stack
// CHECK: dlc.concat 1
// CHECK-NEXT: dlc.reshape
func.func @kept_stack(%a: tensor<2x1x3x4xf32>, %b: tensor<2x1x3x4xf32>) -> tensor<2x2x12xf32> {
  %c = dlc.concat 1 (%a, %b) : (tensor<2x1x3x4xf32>, tensor<2x1x3x4xf32>) -> tensor<2x2x3x4xf32>
  %y = dlc.reshape %c : (tensor<2x2x3x4xf32>) -> tensor<2x2x12xf32>
  return %y : tensor<2x2x12xf32>
}

// -----

// A sum along a concatenation is the sum of its parts' sums; factors are sliced in the same way.

// CHECK-LABEL: @weighted_sum
// CHECK-DAG: %[[W0:.*]] = dlc.slice %arg2 start [0, 0] size [1, 4]
// CHECK-DAG: %[[W1:.*]] = dlc.slice %arg2 start [0, 4] size [1, 2]
// CHECK-DAG: %[[M0:.*]] = dlc.mul %arg0, %[[W0]]
// CHECK-DAG: %[[M1:.*]] = dlc.mul %arg1, %[[W1]]
// CHECK-DAG: %[[S0:.*]] = dlc.reduce sum %[[M0]] axes [1] keepdims
// CHECK-DAG: %[[S1:.*]] = dlc.reduce sum %[[M1]] axes [1] keepdims
// CHECK: dlc.add %[[S0]], %[[S1]]
func.func @weighted_sum(%a: tensor<3x4xf32>, %b: tensor<3x2xf32>, %w: tensor<1x6xf32>) -> tensor<3x1xf32> {
  %c = dlc.concat 1 (%a, %b) : (tensor<3x4xf32>, tensor<3x2xf32>) -> tensor<3x6xf32>
  %m = dlc.mul %c, %w : (tensor<3x6xf32>, tensor<1x6xf32>) -> tensor<3x6xf32>
  %y = dlc.reduce sum %m axes [1] keepdims : (tensor<3x6xf32>) -> tensor<3x1xf32>
  return %y : tensor<3x1xf32>
}

// -----

// 16-bit sums would be rounded twice; along another dimension there is no gain.

// CHECK-LABEL: @rounded_sum
// CHECK: dlc.concat 1
// CHECK: dlc.reduce sum
func.func @rounded_sum(%a: tensor<3x4xf16>, %b: tensor<3x2xf16>) -> tensor<3xf16> {
  %c = dlc.concat 1 (%a, %b) : (tensor<3x4xf16>, tensor<3x2xf16>) -> tensor<3x6xf16>
  %y = dlc.reduce sum %c axes [1] : (tensor<3x6xf16>) -> tensor<3xf16>
  return %y : tensor<3xf16>
}

// CHECK-LABEL: @sum_across
// CHECK: dlc.concat 1
// CHECK: dlc.reduce sum
func.func @sum_across(%a: tensor<3x4xf32>, %b: tensor<3x2xf32>) -> tensor<6xf32> {
  %c = dlc.concat 1 (%a, %b) : (tensor<3x4xf32>, tensor<3x2xf32>) -> tensor<3x6xf32>
  %y = dlc.reduce sum %c axes [0] : (tensor<3x6xf32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// -----

// CHECK-LABEL: @scatter_rows
// CHECK: dlc.scatter_nd max %arg0, %arg1, %arg2
func.func @scatter_rows(%x: tensor<5x4xf32>, %i: tensor<7x1xi64>, %u: tensor<7x4xf32>) -> tensor<5x4xf32> {
  %e = dlc.broadcast %i : (tensor<7x1xi64>) -> tensor<7x4xi64>
  %y = dlc.scatter_elements max 0 %x, %e, %u : (tensor<5x4xf32>, tensor<7x4xi64>, tensor<7x4xf32>) -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// -----

// CHECK-LABEL: @scatter_rows_of_batch
// CHECK: %[[B:.*]] = dlc.constant dense<{{.*}}> : tensor<2x7x1xi64>
// CHECK: %[[P:.*]] = dlc.concat 2(%[[B]], %arg1)
// CHECK: dlc.scatter_nd add %arg0, %[[P]], %arg2
func.func @scatter_rows_of_batch(%x: tensor<3x5x4xf32>, %i: tensor<2x7x1xi64>, %u: tensor<2x7x4xf32>) -> tensor<3x5x4xf32> {
  %e = dlc.broadcast %i : (tensor<2x7x1xi64>) -> tensor<2x7x4xi64>
  %y = dlc.scatter_elements add 1 %x, %e, %u : (tensor<3x5x4xf32>, tensor<2x7x4xi64>, tensor<2x7x4xf32>) -> tensor<3x5x4xf32>
  return %y : tensor<3x5x4xf32>
}

// -----

// Updates that are narrower than the rows remain elements.
// CHECK-LABEL: @scatter_parts_of_rows
// CHECK: dlc.scatter_elements add 0
func.func @scatter_parts_of_rows(%x: tensor<5x8xf32>, %i: tensor<7x1xi64>, %u: tensor<7x4xf32>) -> tensor<5x8xf32> {
  %e = dlc.broadcast %i : (tensor<7x1xi64>) -> tensor<7x4xi64>
  %y = dlc.scatter_elements add 0 %x, %e, %u : (tensor<5x8xf32>, tensor<7x4xi64>, tensor<7x4xf32>) -> tensor<5x8xf32>
  return %y : tensor<5x8xf32>
}

// -----

// Broadcasts of tensors with sizes over symbols remain before the operation.
// CHECK-LABEL: @symbolic_broadcast
// CHECK: %[[B:.*]] = dlc.broadcast %arg0
// CHECK: dlc.exp %[[B]]
#batch = #size.symbol<"batch", "1..64">
func.func @symbolic_broadcast(%x: tensor<?xf32, #size.dims<[#batch]>>) -> tensor<4x?xf32, #size.dims<[#batch]>> {
  %0 = dlc.broadcast %x : (tensor<?xf32, #size.dims<[#batch]>>) -> tensor<4x?xf32, #size.dims<[#batch]>>
  %1 = dlc.exp %0 : (tensor<4x?xf32, #size.dims<[#batch]>>) -> tensor<4x?xf32, #size.dims<[#batch]>>
  return %1 : tensor<4x?xf32, #size.dims<[#batch]>>
}
