// Recurrent layers: text and accepted types.
// RUN: dlc-opt %s | dlc-opt | FileCheck %s
// RUN: dlc-opt %s --mlir-print-op-generic | dlc-opt | FileCheck %s

// CHECK-LABEL: func @lstm
func.func @lstm(%x: tensor<7x2x5xf32>, %w: tensor<1x12x5xf32>, %r: tensor<1x12x3xf32>, %b: tensor<1x24xf32>, %h: tensor<1x2x3xf32>, %c: tensor<1x2x3xf32>) {
  // CHECK: dlc.lstm %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {direction = #dlc<direction forward>} : (tensor<7x2x5xf32>, tensor<1x12x5xf32>, tensor<1x12x3xf32>, tensor<1x24xf32>, tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> (tensor<7x1x2x3xf32>, tensor<1x2x3xf32>, tensor<1x2x3xf32>)
  %0:3 = dlc.lstm %x, %w, %r, %b, %h, %c {direction = #dlc<direction forward>} : (tensor<7x2x5xf32>, tensor<1x12x5xf32>, tensor<1x12x3xf32>, tensor<1x24xf32>, tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> (tensor<7x1x2x3xf32>, tensor<1x2x3xf32>, tensor<1x2x3xf32>)
  return
}

// CHECK-LABEL: func @lstm_both
func.func @lstm_both(%x: tensor<7x2x5xf32>, %w: tensor<2x12x5xf32>, %r: tensor<2x12x3xf32>, %b: tensor<2x24xf32>, %h: tensor<2x2x3xf32>, %c: tensor<2x2x3xf32>) {
  // CHECK: dlc.lstm %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {direction = #dlc<direction both>} : (tensor<7x2x5xf32>, tensor<2x12x5xf32>, tensor<2x12x3xf32>, tensor<2x24xf32>, tensor<2x2x3xf32>, tensor<2x2x3xf32>) -> (tensor<7x2x2x3xf32>, tensor<2x2x3xf32>, tensor<2x2x3xf32>)
  %0:3 = dlc.lstm %x, %w, %r, %b, %h, %c {direction = #dlc<direction both>} : (tensor<7x2x5xf32>, tensor<2x12x5xf32>, tensor<2x12x3xf32>, tensor<2x24xf32>, tensor<2x2x3xf32>, tensor<2x2x3xf32>) -> (tensor<7x2x2x3xf32>, tensor<2x2x3xf32>, tensor<2x2x3xf32>)
  return
}

// CHECK-LABEL: func @gru
func.func @gru(%x: tensor<7x2x5xf32>, %w: tensor<1x9x5xf32>, %r: tensor<1x9x3xf32>, %b: tensor<1x18xf32>, %h: tensor<1x2x3xf32>) {
  // CHECK: dlc.gru %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {direction = #dlc<direction reverse>, linear_before_reset} : (tensor<7x2x5xf32>, tensor<1x9x5xf32>, tensor<1x9x3xf32>, tensor<1x18xf32>, tensor<1x2x3xf32>) -> (tensor<7x1x2x3xf32>, tensor<1x2x3xf32>)
  %0:2 = dlc.gru %x, %w, %r, %b, %h {direction = #dlc<direction reverse>, linear_before_reset} : (tensor<7x2x5xf32>, tensor<1x9x5xf32>, tensor<1x9x3xf32>, tensor<1x18xf32>, tensor<1x2x3xf32>) -> (tensor<7x1x2x3xf32>, tensor<1x2x3xf32>)
  return
}

// CHECK-LABEL: func @rnn
func.func @rnn(%x: tensor<7x2x5xf32>, %w: tensor<1x3x5xf32>, %r: tensor<1x3x3xf32>, %b: tensor<1x6xf32>, %h: tensor<1x2x3xf32>) {
  // CHECK: dlc.rnn %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {direction = #dlc<direction forward>, relu} : (tensor<7x2x5xf32>, tensor<1x3x5xf32>, tensor<1x3x3xf32>, tensor<1x6xf32>, tensor<1x2x3xf32>) -> (tensor<7x1x2x3xf32>, tensor<1x2x3xf32>)
  %0:2 = dlc.rnn %x, %w, %r, %b, %h {direction = #dlc<direction forward>, relu} : (tensor<7x2x5xf32>, tensor<1x3x5xf32>, tensor<1x3x3xf32>, tensor<1x6xf32>, tensor<1x2x3xf32>) -> (tensor<7x1x2x3xf32>, tensor<1x2x3xf32>)
  return
}

// CHECK-LABEL: func @dynamic
func.func @dynamic(%x: tensor<?x?x5xf32>, %w: tensor<1x3x5xf32>, %r: tensor<1x3x3xf32>, %b: tensor<1x6xf32>, %h: tensor<1x?x3xf32>) {
  // CHECK: dlc.rnn %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {direction = #dlc<direction forward>} : (tensor<?x?x5xf32>, tensor<1x3x5xf32>, tensor<1x3x3xf32>, tensor<1x6xf32>, tensor<1x?x3xf32>) -> (tensor<?x1x?x3xf32>, tensor<1x?x3xf32>)
  %0:2 = dlc.rnn %x, %w, %r, %b, %h {direction = #dlc<direction forward>} : (tensor<?x?x5xf32>, tensor<1x3x5xf32>, tensor<1x3x3xf32>, tensor<1x6xf32>, tensor<1x?x3xf32>) -> (tensor<?x1x?x3xf32>, tensor<1x?x3xf32>)
  return
}
