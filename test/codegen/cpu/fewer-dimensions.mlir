// REQUIRES: fma
// RUN: dlc-opt %s -dlc-select='threads=1' -dlc-lower='threads=1 vector-bits=256' -dlc-emit-kernels='vector-bits=256' | FileCheck %s

// An operand of lower rank than the blocked result: the axis is counted from the last dimension.
// CHECK-LABEL: llvm.func @k0
// CHECK: llvm.return
func.func @main(%a: tensor<5x4xf32, #dlc.on<cpu>>, %b: tensor<5x1xf32, #dlc.on<cpu>>, %c: tensor<1x1x1x1xf32, #dlc.on<cpu>>) -> tensor<1x1x5x5xf32, #dlc.on<cpu, acdb>> {
  %y = dlc.fusion(%p = %a, %q = %b, %r = %c) : (tensor<5x4xf32, #dlc.on<cpu>>, tensor<5x1xf32, #dlc.on<cpu>>, tensor<1x1x1x1xf32, #dlc.on<cpu>>) -> tensor<1x1x5x5xf32, #dlc.on<cpu, acdb>> {
    %s = dlc.concat 1 (%p, %q) : (tensor<5x4xf32, #dlc.on<cpu>>, tensor<5x1xf32, #dlc.on<cpu>>) -> tensor<5x5xf32, #dlc.on<cpu>>
    %t = dlc.add %s, %r : (tensor<5x5xf32, #dlc.on<cpu>>, tensor<1x1x1x1xf32, #dlc.on<cpu>>) -> tensor<1x1x5x5xf32, #dlc.on<cpu, acdb>>
    dlc.yield %t : tensor<1x1x5x5xf32, #dlc.on<cpu, acdb>>
  }
  return %y : tensor<1x1x5x5xf32, #dlc.on<cpu, acdb>>
}
