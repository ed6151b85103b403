// Sizes over symbols: text, normal forms and aliases.
// RUN: dlc-opt %s | FileCheck %s --check-prefixes=ALIAS,CHECK
// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-opt %s --mlir-print-op-generic | dlc-opt | FileCheck %s

// Bounds are multiples of the divisor, and the nominal value is computed.
// ALIAS-DAG: #batch = #size.symbol<"batch", "1..64@8">
// ALIAS-DAG: #length = #size.symbol<"length", "8..512:8@128">
// ALIAS-DAG: #past_keys = #size.symbol<"past.keys", "0..@64">
#batch = #size.symbol<"batch", "1..64">
#l = #size.symbol<"length", "1..512:8@128">
#past = #size.symbol<"past.keys", "0..">

// CHECK-LABEL: func private @symbols
// CHECK-SAME: tensor<?x3xf32, #size.dims<[#batch]>>
// CHECK-SAME: tensor<?x?xf32, #size.dims<[#batch, #length], #dlc.on<cpu, ba>>>
func.func private @symbols(tensor<?x3xf32, #size.dims<[#batch]>>,
                           tensor<?x?xf32, #size.dims<[#batch, #l], #dlc.on<cpu, ba>>>)

// CHECK-LABEL: func private @expressions
// CHECK-SAME: tensor<?xf32, #size.dims<[#size.expr<"batch*length + 1", [#batch, #length]>]>>
func.func private @expressions(tensor<?xf32, #size.dims<[#size.expr<"1 + length*batch", [#l, #batch]>]>>)

// A divisor decides the quotient, and an unused symbol is removed.
// CHECK-LABEL: func private @decided
// CHECK-SAME: tensor<?xf32, #size.dims<[#size.expr<"length/8", [#length]>]>>
// CHECK-SAME: tensor<?xf32, #size.dims<[#past_keys]>>
func.func private @decided(tensor<?xf32, #size.dims<[#size.expr<"floordiv(length + 7, 8)", [#l]>]>>,
                           tensor<?xf32, #size.dims<[#size.expr<"past.keys + 0*batch", [#batch, #past]>]>>)

// Operations with the operand's type keep the sizes.
// CHECK-LABEL: func @unary
func.func @unary(%x: tensor<?x4xf32, #size.dims<[#batch]>>) -> tensor<?x4xf32, #size.dims<[#batch]>> {
  // CHECK: dlc.relu %{{.*}} : {{.*}}tensor<?x4xf32, #size.dims<[#batch]>>
  %y = dlc.relu %x : (tensor<?x4xf32, #size.dims<[#batch]>>) -> tensor<?x4xf32, #size.dims<[#batch]>>
  return %y : tensor<?x4xf32, #size.dims<[#batch]>>
}
