// A provider needs one file and one row of the table: Relu.cpp and Table.cpp in this folder.
// RUN: dlc-relu-provider compile %s --cache none --threads 1 --kernels relu --to select | FileCheck %s
// RUN: dlc-relu-provider compile %s --cache none --threads 1 --kernels relu -o %t.dlcx
// RUN: dlc-relu-provider compile --help | FileCheck %s --check-prefix=HELP
// RUN: dlc inspect %t.dlcx | FileCheck %s --check-prefix=MADE
// RUN: dlc run %t.dlcx | FileCheck %s --check-prefix=RESULT
// RUN: not dlc compile %s --cache none --kernels relu 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// REQUIRES: dlc

// CHECK: dlc.kernel = "relu"
// CHECK: dlc.refused = "relu: not one ReLU of f32
// HELP: {relu,
// MADE: relu
// RESULT: f32 3x5
// UNKNOWN: relu
func.func @main(%x: tensor<3x5xf32>, %z: tensor<4xf64>) -> (tensor<3x5xf32>, tensor<4xf64>) {
  %y = dlc.relu %x : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %0 = dlc.relu %z : (tensor<4xf64>) -> tensor<4xf64>
  return %y, %0 : tensor<3x5xf32>, tensor<4xf64>
}
