// Symbols are replaced by values: the result is the program that was written for these sizes.
// RUN: split-file %s %t
// RUN: dlc-opt %t/free.mlir --dlc-specialize='sizes=batch=4,length=16' --mlir-print-op-generic > %t/specialized.txt
// RUN: dlc-opt %t/fixed.mlir --mlir-print-op-generic > %t/fixed.txt
// RUN: diff %t/specialized.txt %t/fixed.txt
// RUN: dlc-opt %t/free.mlir --dlc-specialize='sizes=batch=4' | FileCheck %s
// RUN: dlc-opt %t/free.mlir --dlc-specialize | dlc-opt -o %t/same.txt
// RUN: dlc-opt %t/free.mlir | diff - %t/same.txt

// Without a value for the length, its symbol remains.
// CHECK: func @main(%arg0: tensor<4x?xf32, #size.dims<[#length]>>
// CHECK: dlc.size <"4*length", [#length]> -> tensor<i64>

//--- free.mlir
#batch = #size.symbol<"batch", "1..64">
#length = #size.symbol<"length", "8..512:8">
func.func @main(%x: tensor<?x?xf32, #size.dims<[#batch, #length]>>, %b: tensor<?xf32, #size.dims<[#length]>>)
    -> (tensor<?x?xf32, #size.dims<[#batch, #length]>>, tensor<?xf32, #size.dims<[#size.expr<"batch*length", [#batch, #length]>]>>, tensor<i64>) {
  %0 = dlc.add %x, %b : (tensor<?x?xf32, #size.dims<[#batch, #length]>>, tensor<?xf32, #size.dims<[#length]>>) -> tensor<?x?xf32, #size.dims<[#batch, #length]>>
  %1 = dlc.softmax %0 {axis = 1 : i64} : (tensor<?x?xf32, #size.dims<[#batch, #length]>>) -> tensor<?x?xf32, #size.dims<[#batch, #length]>>
  %2 = dlc.reshape %1 : (tensor<?x?xf32, #size.dims<[#batch, #length]>>) -> tensor<?xf32, #size.dims<[#size.expr<"batch*length", [#batch, #length]>]>>
  %3 = dlc.size #size.expr<"batch*length", [#batch, #length]> -> tensor<i64>
  return %1, %2, %3 : tensor<?x?xf32, #size.dims<[#batch, #length]>>, tensor<?xf32, #size.dims<[#size.expr<"batch*length", [#batch, #length]>]>>, tensor<i64>
}
//--- fixed.mlir
func.func @main(%x: tensor<4x16xf32>, %b: tensor<16xf32>) -> (tensor<4x16xf32>, tensor<64xf32>, tensor<i64>) {
  %0 = dlc.add %x, %b : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %1 = dlc.softmax %0 {axis = 1 : i64} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %2 = dlc.reshape %1 : (tensor<4x16xf32>) -> tensor<64xf32>
  %3 = dlc.constant dense<64> : tensor<i64>
  return %1, %2, %3 : tensor<4x16xf32>, tensor<64xf32>, tensor<i64>
}
