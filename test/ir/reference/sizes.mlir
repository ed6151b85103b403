// Values of sizes. A size with symbols has none.
// RUN: dlc-opt %s --split-input-file --dlc-evaluate --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @number()
// CHECK-NEXT: dense<12> : tensor<i64>
#fixed = #size.symbol<"fixed", "6..6">
func.func @number() -> tensor<i64> {
  %0 = dlc.size #size.expr<"2*fixed", [#fixed]> -> tensor<i64>
  return %0 : tensor<i64>
}

// -----

#batch = #size.symbol<"batch", "1..64">
func.func @open() -> tensor<i64> {
  // expected-error @+1 {{'dlc.size' op has no value before its symbols have values; found "2*batch"; replace the symbols by numbers first}}
  %0 = dlc.size #size.expr<"2*batch", [#batch]> -> tensor<i64>
  return %0 : tensor<i64>
}
