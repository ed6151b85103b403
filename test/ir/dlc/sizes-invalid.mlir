// Sizes as values: one test per constraint.
// RUN: dlc-opt %s -verify-diagnostics -split-input-file

#batch = #size.symbol<"batch", "1..64">
func.func @c1() {
  // expected-error @+1 {{'dlc.size' op C1: the result must be an i64 tensor of rank 0; found 'tensor<1xi64>'; write tensor<i64>}}
  %0 = dlc.size #size.expr<"batch", [#batch]> -> tensor<1xi64>
  return
}
