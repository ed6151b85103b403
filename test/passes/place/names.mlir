// Devices by name, and errors for invalid names.
// RUN: dlc-opt %s --dlc-place='place=encoder/*=cpu:1,output:y=cpu:2' | FileCheck %s
// RUN: dlc-opt %s --dlc-place='place=*/dense=cpu:1,encoder/*=cpu:2' | FileCheck %s --check-prefix=FIRST
// RUN: not dlc-opt %s --dlc-place='place=encodr/dense=cpu:1' 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not dlc-opt %s --dlc-place='place=input:z=cpu:1' 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not dlc-opt %s --dlc-place='place=head=gpu:0' 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not dlc-opt %s --dlc-place='device=tpu' 2>&1 | FileCheck %s --check-prefix=HOME
// RUN: not dlc-opt %s --dlc-place='place=head' 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not dlc-opt %s --dlc-place='place=auto:cpu=many' 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: not dlc-opt %s --dlc-place='place=auto:cpu;cpu' 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not dlc-opt %s --dlc-place='place=auto:cpu,split:cpu' 2>&1 | FileCheck %s --check-prefix=ONCE

// CHECK-LABEL: func.func @main
// CHECK-SAME: -> (tensor<4xf32, #dlc.on<cpu:2>> {dlc.name = "y"})
// CHECK: dlc.neg %{{.*}} -> tensor<4xf32, #dlc.on<cpu:1>>
// CHECK: dlc.relu %{{.*}} -> tensor<4xf32, #dlc.on<cpu:1>>
// The first matching pattern decides.
// FIRST: dlc.neg %{{.*}} -> tensor<4xf32, #dlc.on<cpu:1>>
// FIRST: dlc.relu %{{.*}} -> tensor<4xf32, #dlc.on<cpu:2>>
// NOTHING: --place 'encodr/dense=cpu:1': no operation has a name that matches; found 'encoder/dense' 'encoder/act' 'head'
// INPUT: --place 'input:z=cpu:1': no input has a name that matches; found 'x'
// DEVICE: --place 'head=gpu:0': 'gpu:0' is not a device; write for example cpu, cpu:1 or cuda:0
// HOME: --device: 'tpu' is not a device
// FORM: --place 'head': required: PATTERN=DEVICE
// BYTES: --place 'auto:cpu=many': required: bytes, as in cpu=2GiB; found 'many'
// TWICE: --place 'auto:cpu;cpu': cpu is listed twice
// ONCE: required: `auto:` or `split:` once
func.func @main(%x: tensor<4xf32> {dlc.name = "x"}) -> (tensor<4xf32> {dlc.name = "y"}) {
  %0 = dlc.neg %x : (tensor<4xf32>) -> tensor<4xf32> loc("encoder/dense")
  %1 = dlc.relu %0 : (tensor<4xf32>) -> tensor<4xf32> loc("encoder/act")
  %2 = dlc.tanh %1 : (tensor<4xf32>) -> tensor<4xf32> loc("head")
  return %2 : tensor<4xf32>
}
