// RUN: dlc-opt %s --dlc-place --dlc-layout='threads=1 costs=assumed' --dlc-verify-layout --split-input-file | FileCheck %s

// One layout from the first convolution to the result. Which one depends on the machine: only that it is one.
// CHECK-LABEL: @chain
// CHECK: dlc.conv {{.*}} -> tensor<1x64x32x32xf32, #dlc.on<cpu, [[TAG:[aBbcd168]+]]>>
// CHECK: dlc.relu {{.*}} -> tensor<1x64x32x32xf32, #dlc.on<cpu, [[TAG]]>>
// CHECK: dlc.max_pool {{.*}} -> tensor<1x64x16x16xf32, #dlc.on<cpu, [[TAG]]>>
// CHECK-NOT: dlc.reorder
// CHECK: dlc.conv {{.*}} -> tensor<1x64x16x16xf32, #dlc.on<cpu, [[TAG]]>>
// CHECK: dlc.add {{.*}} -> tensor<1x64x16x16xf32, #dlc.on<cpu, [[TAG]]>>
// CHECK: dlc.concat {{.*}} -> tensor<1x128x16x16xf32, #dlc.on<cpu, [[TAG]]>>
// CHECK: dlc.reorder %{{.*}} -> tensor<1x128x16x16xf32, #dlc.on<cpu>>
// CHECK: dlc.reduce {{.*}} -> tensor<1x128xf32, #dlc.on<cpu>>
func.func @chain(%x: tensor<1x3x32x32xf32>, %w: tensor<64x3x3x3xf32>, %v: tensor<64x64x3x3xf32>) -> (tensor<1x128xf32>, tensor<1x128x16x16xf32>) {
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x32x32xf32>, tensor<64x3x3x3xf32>) -> tensor<1x64x32x32xf32>
  %1 = dlc.relu %0 : (tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32>
  %2 = dlc.max_pool %1 {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<1x64x32x32xf32>) -> tensor<1x64x16x16xf32>
  %3 = dlc.conv %2, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x16x16xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x16x16xf32>
  %4 = dlc.add %3, %2 : (tensor<1x64x16x16xf32>, tensor<1x64x16x16xf32>) -> tensor<1x64x16x16xf32>
  %5 = dlc.concat 1 (%4, %2) : (tensor<1x64x16x16xf32>, tensor<1x64x16x16xf32>) -> tensor<1x128x16x16xf32>
  %6 = dlc.reduce mean %5 axes [2, 3] : (tensor<1x128x16x16xf32>) -> tensor<1x128xf32>
  return %6, %5 : tensor<1x128xf32>, tensor<1x128x16x16xf32>
}

// -----

// Group norm reads the images in their layout.
// CHECK-LABEL: @group_norm
// CHECK: dlc.conv {{.*}} -> tensor<1x64x8x8xf32, #dlc.on<cpu, [[TAG:[aBbcd168]+]]>>
// CHECK-NOT: dlc.reorder
// CHECK: dlc.group_norm {{.*}} -> tensor<1x64x8x8xf32, #dlc.on<cpu, [[TAG]]>>
// CHECK-NOT: dlc.reorder
// CHECK: dlc.conv {{.*}} -> tensor<1x64x8x8xf32, #dlc.on<cpu, [[TAG]]>>
func.func @group_norm(%x: tensor<1x64x8x8xf32>, %w: tensor<64x64x3x3xf32>, %s: tensor<64xf32>) -> tensor<1x64x8x8xf32> {
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x8x8xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x8x8xf32>
  %1 = dlc.group_norm %0 scale %s bias %s {groups = 8 : i64, eps = 1.0e-5 : f64} : (tensor<1x64x8x8xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<1x64x8x8xf32>
  %2 = dlc.conv %1, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x8x8xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x8x8xf32>
  return %2 : tensor<1x64x8x8xf32>
}

// -----

// But not if its statistics have the images' shape, since operands of one shape must have one layout.
// CHECK-LABEL: @group_norm_of_pixels
// CHECK: dlc.group_norm {{.*}} -> tensor<1x64x1x1xf32, #dlc.on<cpu>>
func.func @group_norm_of_pixels(%x: tensor<1x64x1x1xf32>, %w: tensor<64x64x1x1xf32>) -> tensor<1x64x1x1xf32> {
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x64x1x1xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x1x1xf32>
  %1 = dlc.group_norm %0 {groups = 8 : i64, eps = 1.0e-5 : f64} : (tensor<1x64x1x1xf32>) -> tensor<1x64x1x1xf32>
  %2 = dlc.conv %1, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x64x1x1xf32>, tensor<64x64x1x1xf32>) -> tensor<1x64x1x1xf32>
  return %2 : tensor<1x64x1x1xf32>
}

// -----

// A reduction over all elements needs no other layout: a scale, as in dynamic quantization.
// CHECK-LABEL: @whole
// CHECK: dlc.conv {{.*}} -> tensor<1x64x8x8xf32, #dlc.on<cpu, [[TAG:[aBbcd168]+]]>>
// CHECK-NOT: dlc.reorder
// CHECK: dlc.reduce max %{{.*}} axes [0, 1, 2, 3] : (tensor<1x64x8x8xf32, #dlc.on<cpu, [[TAG]]>>) -> tensor<f32, #dlc.on<cpu>>
// CHECK-NOT: dlc.reorder
// CHECK: dlc.conv {{.*}} -> tensor<1x64x8x8xf32, #dlc.on<cpu, [[TAG]]>>
func.func @whole(%x: tensor<1x64x8x8xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x64x8x8xf32> {
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x8x8xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x8x8xf32>
  %1 = dlc.reduce max %0 axes [0, 1, 2, 3] : (tensor<1x64x8x8xf32>) -> tensor<f32>
  %2 = dlc.div %0, %1 : (tensor<1x64x8x8xf32>, tensor<f32>) -> tensor<1x64x8x8xf32>
  %3 = dlc.conv %2, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x8x8xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x8x8xf32>
  return %3 : tensor<1x64x8x8xf32>
}

// -----

// Resized images, by gathers along spatial dimensions, keep the layout.
// CHECK-LABEL: @resized
// CHECK: dlc.conv {{.*}} -> tensor<1x64x8x8xf32, #dlc.on<cpu, [[TAG:[aBbcd168]+]]>>
// CHECK-NOT: dlc.reorder
// CHECK: dlc.gather {{.*}} -> tensor<1x64x16x8xf32, #dlc.on<cpu, [[TAG]]>>
// CHECK: dlc.gather {{.*}} -> tensor<1x64x16x16xf32, #dlc.on<cpu, [[TAG]]>>
// CHECK-NOT: dlc.reorder
// CHECK: dlc.conv
func.func @resized(%x: tensor<1x64x8x8xf32>, %v: tensor<64x64x3x3xf32>, %p: tensor<16xi64>) -> tensor<1x64x16x16xf32> {
  %0 = dlc.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x8x8xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x8x8xf32>
  %1 = dlc.gather 2 %0, %p : (tensor<1x64x8x8xf32>, tensor<16xi64>) -> tensor<1x64x16x8xf32>
  %2 = dlc.gather 3 %1, %p : (tensor<1x64x16x8xf32>, tensor<16xi64>) -> tensor<1x64x16x16xf32>
  %3 = dlc.conv %2, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x16x16xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x16x16xf32>
  return %3 : tensor<1x64x16x16xf32>
}

// -----

// Slices of whole channel blocks keep the layout.
// CHECK-LABEL: @split
// CHECK: dlc.conv {{.*}} -> tensor<1x64x16x16xf32, #dlc.on<cpu, [[TAG:[aBbcd168]+]]>>
// CHECK: dlc.slice {{.*}} -> tensor<1x32x16x16xf32, #dlc.on<cpu, [[TAG]]>>
// CHECK: dlc.slice {{.*}} -> tensor<1x32x16x16xf32, #dlc.on<cpu, [[TAG]]>>
// CHECK-NOT: dlc.reorder
// CHECK: dlc.concat {{.*}} -> tensor<1x64x16x16xf32, #dlc.on<cpu, [[TAG]]>>
func.func @split(%x: tensor<1x64x16x16xf32>, %v: tensor<64x64x3x3xf32>, %w: tensor<32x32x3x3xf32>) -> tensor<1x64x16x16xf32> {
  %0 = dlc.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x16x16xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x16x16xf32>
  %1 = dlc.slice %0 start [0, 0, 0, 0] size [1, 32, 16, 16] stride [1, 1, 1, 1] : (tensor<1x64x16x16xf32>) -> tensor<1x32x16x16xf32>
  %2 = dlc.slice %0 start [0, 32, 0, 0] size [1, 32, 16, 16] stride [1, 1, 1, 1] : (tensor<1x64x16x16xf32>) -> tensor<1x32x16x16xf32>
  %3 = dlc.conv %1, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x32x16x16xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x16x16xf32>
  %4 = dlc.concat 1 (%3, %2) : (tensor<1x32x16x16xf32>, tensor<1x32x16x16xf32>) -> tensor<1x64x16x16xf32>
  return %4 : tensor<1x64x16x16xf32>
}

// -----

// Operations that require a plain layout get it, and two readers share one reorder.
// CHECK-LABEL: @plain
// CHECK: dlc.conv
// CHECK-COUNT-1: dlc.reorder
// CHECK-NOT: dlc.reorder
// CHECK: dlc.reshape
// CHECK: dlc.transpose
func.func @plain(%x: tensor<1x64x8x8xf32>, %v: tensor<64x64x3x3xf32>) -> (tensor<64x64xf32>, tensor<1x8x8x64xf32>) {
  %3 = dlc.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x8x8xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x8x8xf32>
  %4 = dlc.reshape %3 : (tensor<1x64x8x8xf32>) -> tensor<64x64xf32>
  %5 = dlc.transpose %3 [0, 2, 3, 1] : (tensor<1x64x8x8xf32>) -> tensor<1x8x8x64xf32>
  return %4, %5 : tensor<64x64xf32>, tensor<1x8x8x64xf32>
}

// -----

// Without a spatial convolution, no layout is chosen.
// CHECK-LABEL: @one_dimension
// CHECK-NOT: dlc.reorder
func.func @one_dimension(%x: tensor<1x64x32xf32>, %w: tensor<64x64x3xf32>) -> tensor<1x64x32xf32> {
  %0 = dlc.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 1>, high = array<i64: 1>, groups = 1 : i64} : (tensor<1x64x32xf32>, tensor<64x64x3xf32>) -> tensor<1x64x32xf32>
  return %0 : tensor<1x64x32xf32>
}

// -----

// A convolution that takes less time than the reorder of its operand keeps the plain layout.
// CHECK-LABEL: @small
// CHECK-NOT: dlc.reorder
// CHECK: return
func.func @small(%x: tensor<1x16x4x4xf32>, %w: tensor<16x16x3x3xf32>) -> tensor<1x16x4x4xf32> {
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x4x4xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x4x4xf32>
  return %0 : tensor<1x16x4x4xf32>
}

// -----

// But between large convolutions it has their layout, since reorders in both directions would cost more.
// CHECK-LABEL: @between
// CHECK: dlc.reorder %arg0
// CHECK-NOT: dlc.reorder
// CHECK: dlc.conv {{.*}} -> tensor<1x64x32x32xf32, #dlc.on<cpu, [[TAG:[aBbcd168]+]]>>
// CHECK: dlc.conv {{.*}} -> tensor<1x16x32x32xf32, #dlc.on<cpu, [[TAG]]>>
// CHECK: dlc.conv {{.*}} -> tensor<1x64x32x32xf32, #dlc.on<cpu, [[TAG]]>>
// CHECK-COUNT-1: dlc.reorder
// CHECK-NOT: dlc.reorder
func.func @between(%x: tensor<1x64x32x32xf32>, %w: tensor<64x64x3x3xf32>, %v: tensor<16x64x1x1xf32>, %u: tensor<64x16x3x3xf32>) -> tensor<1x64x32x32xf32> {
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x32x32xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x32x32xf32>
  %1 = dlc.conv %0, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x64x32x32xf32>, tensor<16x64x1x1xf32>) -> tensor<1x16x32x32xf32>
  %2 = dlc.conv %1, %u {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x32x32xf32>, tensor<64x16x3x3xf32>) -> tensor<1x64x32x32xf32>
  return %2 : tensor<1x64x32x32xf32>
}

// -----

// A sum of a small convolution and a value with only plain readers: the existing layout of the image decides, not the branch.
// CHECK-LABEL: @branch
// CHECK: dlc.conv {{.*}} -> tensor<1x64x32x32xf32, #dlc.on<cpu, [[TAG:[aBbcd168]+]]>>
// CHECK: dlc.add {{.*}} -> tensor<1x64x32x32xf32, #dlc.on<cpu, [[TAG]]>>
// CHECK: dlc.relu {{.*}} -> tensor<1x64x32x32xf32, #dlc.on<cpu, [[TAG]]>>
// CHECK-COUNT-1: dlc.reorder
// CHECK-NOT: dlc.reorder
func.func @branch(%x: tensor<1x64x32x32xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<64x1024xf32> {
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x32x32xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x32x32xf32>
  %1 = dlc.add %0, %x : (tensor<1x64x32x32xf32>, tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32>
  %2 = dlc.relu %1 : (tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32>
  %3 = dlc.reshape %2 : (tensor<1x64x32x32xf32>) -> tensor<64x1024xf32>
  return %3 : tensor<64x1024xf32>
}
