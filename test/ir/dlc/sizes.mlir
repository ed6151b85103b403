// Sizes as values: text and folding.
// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD

#batch = #size.symbol<"batch", "1..64">
#fixed = #size.symbol<"fixed", "6..6">

// CHECK-LABEL: func @open
func.func @open() -> tensor<i64> {
  // CHECK: dlc.size <"2*batch", [#batch]> -> tensor<i64>
  // FOLD: dlc.size
  %0 = dlc.size #size.expr<"batch*2", [#batch]> -> tensor<i64>
  return %0 : tensor<i64>
}

// FOLD-LABEL: func @number
func.func @number() -> tensor<i64> {
  // FOLD: dlc.constant dense<12> : tensor<i64>
  %0 = dlc.size #size.expr<"2*fixed", [#fixed]> -> tensor<i64>
  return %0 : tensor<i64>
}
