// RUN: dlc-opt %s --dlc-verify-placement --split-input-file -verify-diagnostics

func.func @unplaced(%x: tensor<2xf32, #dlc.on<cpu>>) -> tensor<2xf32, #dlc.on<cpu>> {
  // expected-error @+1 {{result 0 has no device: 'tensor<2xf32>'; run dlc-place first}}
  %c = dlc.constant dense<1.0> : tensor<2xf32>
  return %x : tensor<2xf32, #dlc.on<cpu>>
}

// -----

// Only dlc.transfer moves values between devices; the operation's constraint is checked if its operands have different devices.
func.func @crossing(%x: tensor<2xf32, #dlc.on<cpu>>, %s: tensor<f32, #dlc.on<cpu:1>>) -> tensor<2xf32, #dlc.on<cpu:1>> {
  // A 0-d scalar may be anywhere.
  %y = dlc.add %x, %s : (tensor<2xf32, #dlc.on<cpu>>, tensor<f32, #dlc.on<cpu:1>>) -> tensor<2xf32, #dlc.on<cpu>>
  %z = dlc.transfer %y : (tensor<2xf32, #dlc.on<cpu>>) -> tensor<2xf32, #dlc.on<cpu:1>>
  return %z : tensor<2xf32, #dlc.on<cpu:1>>
}

// -----

func.func @fusion(%x: tensor<2xf32, #dlc.on<cpu>>, %y: tensor<2xf32, #dlc.on<cpu:1>>) -> tensor<2xf32, #dlc.on<cpu>> {
  // expected-error @+1 {{all tensors of an operation must be on one device: operand 0 is on cpu, operand 1 is on cpu:1; insert a dlc.transfer between them}}
  %z = dlc.fusion(%a = %x, %b = %y) : (tensor<2xf32, #dlc.on<cpu>>, tensor<2xf32, #dlc.on<cpu:1>>) -> tensor<2xf32, #dlc.on<cpu>> {
    %r = dlc.neg %a : (tensor<2xf32, #dlc.on<cpu>>) -> tensor<2xf32, #dlc.on<cpu>>
    dlc.yield %r : tensor<2xf32, #dlc.on<cpu>>
  }
  return %z : tensor<2xf32, #dlc.on<cpu>>
}

// -----

// The whole loop is on one device.
func.func @loop(%x: tensor<2xf32, #dlc.on<cpu>>, %n: tensor<i64, #dlc.on<cpu>>) -> tensor<2xf32, #dlc.on<cpu>> {
  // expected-note @+1 {{all parts of this operation must be on one device}}
  %y = dlc.loop trip(%n : tensor<i64, #dlc.on<cpu>>) inits(%x : tensor<2xf32, #dlc.on<cpu>>) -> (tensor<2xf32, #dlc.on<cpu>>) {
  ^bb0(%i: tensor<i64, #dlc.on<cpu>>, %c: tensor<2xf32, #dlc.on<cpu>>):
    // expected-error @+1 {{all tensors of a loop must be on one device: operand 1 is on cpu, dlc.transfer result 0 is on cpu:1; insert a dlc.transfer before or after it}}
    %0 = dlc.transfer %c : (tensor<2xf32, #dlc.on<cpu>>) -> tensor<2xf32, #dlc.on<cpu:1>>
    %1 = dlc.transfer %0 : (tensor<2xf32, #dlc.on<cpu:1>>) -> tensor<2xf32, #dlc.on<cpu>>
    dlc.yield %1 : tensor<2xf32, #dlc.on<cpu>>
  }
  return %y : tensor<2xf32, #dlc.on<cpu>>
}

// -----

func.func @transfer(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @-1 {{argument 0 has no device: 'tensor<2xf32>'; run dlc-place first}}
  return %x : tensor<2xf32>
}
