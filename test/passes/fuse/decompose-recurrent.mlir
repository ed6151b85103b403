// RUN: dlc-opt %s --dlc-decompose --split-input-file | FileCheck %s

// Weights that are not constant: one matmul with the inputs of all steps, then a loop.
// CHECK-LABEL: @lstm
// CHECK: %[[P:.*]] = dlc.matmul %{{.*}}, %{{.*}} transpose_b : (tensor<6x3xf32>, tensor<16x3xf32>) -> tensor<6x16xf32>
// CHECK: dlc.loop trip({{.*}}) inits({{.*}} : tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<3x2x4xf32>)
// CHECK: dlc.gather 0
// CHECK: dlc.matmul %{{.*}} transpose_b : (tensor<2x4xf32>, tensor<16x4xf32>) -> tensor<2x16xf32>
// CHECK-COUNT-3: dlc.sigmoid
// CHECK: dlc.yield
// CHECK-NOT: dlc.lstm
func.func @lstm(%x: tensor<3x2x3xf32>, %w: tensor<1x16x3xf32>, %r: tensor<1x16x4xf32>, %b: tensor<1x32xf32>, %h: tensor<1x2x4xf32>, %c: tensor<1x2x4xf32>) -> tensor<3x1x2x4xf32> {
  %y, %hn, %cn = dlc.lstm %x, %w, %r, %b, %h, %c {direction = #dlc<direction forward>} : (tensor<3x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>, tensor<1x32xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> (tensor<3x1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>)
  return %y : tensor<3x1x2x4xf32>
}

// -----

// Reverse direction: the steps are read from the last one, and the stacked results are reversed. 16-bit states are carried in f32.
// CHECK-LABEL: @reverse
// CHECK: dlc.loop {{.*}} -> (tensor<2x4xf32>, tensor<3x2x4xf32>)
// CHECK: ^bb0(%[[I:[^:]*]]: tensor<i64>
// CHECK: %[[AT:.*]] = dlc.sub %{{.*}}, %[[I]]
// CHECK: dlc.gather 0 %{{.*}}, %[[AT]]
// CHECK: dlc.slice {{.*}} stride [-1, 1, 1]
// CHECK: dlc.cast {{.*}} to bf16
func.func @reverse(%x: tensor<3x2x3xbf16>, %w: tensor<1x4x3xbf16>, %r: tensor<1x4x4xbf16>, %b: tensor<1x8xbf16>, %h: tensor<1x2x4xbf16>) -> tensor<3x1x2x4xbf16> {
  %y, %hn = dlc.rnn %x, %w, %r, %b, %h {direction = #dlc<direction reverse>} : (tensor<3x2x3xbf16>, tensor<1x4x3xbf16>, tensor<1x4x4xbf16>, tensor<1x8xbf16>, tensor<1x2x4xbf16>) -> (tensor<3x1x2x4xbf16>, tensor<1x2x4xbf16>)
  return %y : tensor<3x1x2x4xbf16>
}

// -----

// The library supports constant f32 weights in one direction.
// CHECK-LABEL: @library
// CHECK: dlc.gru
func.func @library(%x: tensor<3x3x3xf32>, %h: tensor<1x3x4xf32>) -> tensor<3x1x3x4xf32> {
  %w = dlc.constant dense<0.5> : tensor<1x12x3xf32>
  %r = dlc.constant dense<0.5> : tensor<1x12x4xf32>
  %b = dlc.constant dense<0.5> : tensor<1x24xf32>
  %y, %hn = dlc.gru %x, %w, %r, %b, %h {direction = #dlc<direction forward>} : (tensor<3x3x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>, tensor<1x24xf32>, tensor<1x3x4xf32>) -> (tensor<3x1x3x4xf32>, tensor<1x3x4xf32>)
  return %y : tensor<3x1x3x4xf32>
}

// -----

// A bidirectional layer becomes two layers, each with its half of the constant weights.
// CHECK-LABEL: @both
// CHECK-DAG: dlc.constant dense<2.500000e-01> : tensor<1x4x3xf32>
// CHECK-DAG: dlc.constant dense<5.000000e-01> : tensor<1x4x3xf32>
// CHECK: dlc.slice %arg1 start [0, 0, 0]
// CHECK: dlc.rnn {{.*}}direction forward
// CHECK: dlc.slice %arg1 start [1, 0, 0]
// CHECK: dlc.rnn {{.*}}direction reverse
// CHECK: dlc.concat 1
// CHECK-NOT: dlc.loop
func.func @both(%x: tensor<3x3x3xf32>, %h: tensor<2x3x4xf32>) -> tensor<3x2x3x4xf32> {
  %w0 = dlc.constant dense<[[[0.25, 0.25, 0.25], [0.25, 0.25, 0.25], [0.25, 0.25, 0.25], [0.25, 0.25, 0.25]], [[0.5, 0.5, 0.5], [0.5, 0.5, 0.5], [0.5, 0.5, 0.5], [0.5, 0.5, 0.5]]]> : tensor<2x4x3xf32>
  %r = dlc.constant dense<0.5> : tensor<2x4x4xf32>
  %b = dlc.constant dense<0.5> : tensor<2x8xf32>
  %y, %hn = dlc.rnn %x, %w0, %r, %b, %h {direction = #dlc<direction both>, relu} : (tensor<3x3x3xf32>, tensor<2x4x3xf32>, tensor<2x4x4xf32>, tensor<2x8xf32>, tensor<2x3x4xf32>) -> (tensor<3x2x3x4xf32>, tensor<2x3x4xf32>)
  return %y : tensor<3x2x3x4xf32>
}

// -----

// Constant 16-bit weights are cast to f32 for the library.
// CHECK-LABEL: @widened
// CHECK-DAG: dlc.constant dense<5.000000e-01> : tensor<1x12x3xf32>
// CHECK-DAG: dlc.cast %arg0 to f32
// CHECK: dlc.gru {{.*}}linear_before_reset
// CHECK: dlc.cast {{.*}} to f16
// CHECK-NOT: dlc.loop
func.func @widened(%x: tensor<3x3x3xf16>, %h: tensor<1x3x4xf16>) -> tensor<3x1x3x4xf16> {
  %w = dlc.constant dense<0.5> : tensor<1x12x3xf16>
  %r = dlc.constant dense<0.5> : tensor<1x12x4xf16>
  %b = dlc.constant dense<0.5> : tensor<1x24xf16>
  %y, %hn = dlc.gru %x, %w, %r, %b, %h {direction = #dlc<direction forward>, linear_before_reset} : (tensor<3x3x3xf16>, tensor<1x12x3xf16>, tensor<1x12x4xf16>, tensor<1x24xf16>, tensor<1x3x4xf16>) -> (tensor<3x1x3x4xf16>, tensor<1x3x4xf16>)
  return %y : tensor<3x1x3x4xf16>
}

// -----

// But not if each step multiplies a matrix by only one or two vectors.
// CHECK-LABEL: @vector
// CHECK: dlc.loop
// CHECK-NOT: dlc.lstm
func.func @vector(%x: tensor<3x1x8xf32>, %h: tensor<1x1x64xf32>) -> tensor<3x1x1x64xf32> {
  %w = dlc.constant dense<0.5> : tensor<1x256x8xf32>
  %r = dlc.constant dense<0.5> : tensor<1x256x64xf32>
  %b = dlc.constant dense<0.5> : tensor<1x512xf32>
  %y, %hn, %cn = dlc.lstm %x, %w, %r, %b, %h, %h {direction = #dlc<direction forward>} : (tensor<3x1x8xf32>, tensor<1x256x8xf32>, tensor<1x256x64xf32>, tensor<1x512xf32>, tensor<1x1x64xf32>, tensor<1x1x64xf32>) -> (tensor<3x1x1x64xf32>, tensor<1x1x64xf32>, tensor<1x1x64xf32>)
  return %y : tensor<3x1x1x64xf32>
}
