// RUN: dlc-opt %s --dlc-place --split-input-file -verify-diagnostics

func.func @device(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{`dlc.device` must name a device; found "gpu"; write for example cpu, cpu:1 or cuda:0}}
  %0 = dlc.neg %x {dlc.device = "gpu"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @loop(%x: tensor<4xf32>, %n: tensor<i64>) -> tensor<4xf32> {
  // expected-error @+1 {{must be completely on one device; 'first' inside is requested on cpu, 'second' on cpu:1; request one device for all of it}}
  %y = dlc.loop trip(%n : tensor<i64>) inits(%x : tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %c: tensor<4xf32>):
    %0 = dlc.neg %c {dlc.device = "cpu"} : (tensor<4xf32>) -> tensor<4xf32> loc("first")
    %1 = dlc.relu %0 {dlc.device = "cpu:1"} : (tensor<4xf32>) -> tensor<4xf32> loc("second")
    dlc.yield %1 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @branch(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{must be completely on one device: it is requested on cpu:1 (set by dlc.device), but cpu is requested by 'inner' inside: set by dlc.device; request one device for all of it}}
  %y = dlc.if %c : (tensor<i1>) -> tensor<4xf32> {
    %0 = dlc.neg %x {dlc.device = "cpu"} : (tensor<4xf32>) -> tensor<4xf32> loc("inner")
    dlc.yield %0 : tensor<4xf32>
  } else {
    dlc.yield %x : tensor<4xf32>
  } {dlc.device = "cpu:1"}
  return %y : tensor<4xf32>
}

// -----

func.func private @other(tensor<4xf32>) -> tensor<4xf32>
func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{calls must be inlined before several devices are placed; run --inline}}
  %0 = func.call @other(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = dlc.neg %0 {dlc.device = "cpu:1"} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
