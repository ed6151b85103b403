// A branch with a constant condition is replaced by the region that is taken.
// RUN: dlc-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func @taken
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[A:.*]] = dlc.abs %[[X]]
// CHECK-NEXT: %[[B:.*]] = dlc.neg %[[X]]
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @taken(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %yes = dlc.constant dense<true> : tensor<i1>
  %no = dlc.constant dense<false> : tensor<1xi1>
  %0 = dlc.if %yes : (tensor<i1>) -> tensor<4xf32> {
    %1 = dlc.abs %x : (tensor<4xf32>) -> tensor<4xf32>
    dlc.yield %1 : tensor<4xf32>
  } else {
    %1 = dlc.neg %x : (tensor<4xf32>) -> tensor<4xf32>
    dlc.yield %1 : tensor<4xf32>
  }
  %2 = dlc.if %no : (tensor<1xi1>) -> tensor<4xf32> {
    %1 = dlc.abs %x : (tensor<4xf32>) -> tensor<4xf32>
    dlc.yield %1 : tensor<4xf32>
  } else {
    %1 = dlc.neg %x : (tensor<4xf32>) -> tensor<4xf32>
    dlc.yield %1 : tensor<4xf32>
  }
  return %0, %2 : tensor<4xf32>, tensor<4xf32>
}

// Unused operations are removed with their regions.
// CHECK-LABEL: func @dead
// CHECK-NEXT: return
func.func @dead(%c: tensor<i1>, %x: tensor<4xf32>) {
  %0 = dlc.if %c : (tensor<i1>) -> tensor<4xf32> {
    dlc.yield %x : tensor<4xf32>
  } else {
    dlc.yield %x : tensor<4xf32>
  }
  %1 = dlc.fusion(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %2 = dlc.abs %a : (tensor<4xf32>) -> tensor<4xf32>
    dlc.yield %2 : tensor<4xf32>
  }
  return
}
