// Without the instructions with which libraries sum 8-bit integers, generated matmuls sum them. A convolution becomes a matmul of its
// unfolded image (im2col) with its epilogue; the result has the convolution's layout.
// RUN: dlc-opt %s -dlc-raise-quantized -dlc-integer-sums=costs=generated-sums -dlc-expand-quantized -cse | FileCheck %s
// RUN: dlc-opt %s -dlc-raise-quantized -dlc-integer-sums=costs=generated-sums -dlc-expand-quantized -cse -dlc-place -dlc-fuse | FileCheck %s --check-prefix=FUSE

// CHECK-LABEL: @window
// CHECK: %[[P:.*]] = dlc.pad constant %{{.*}} low [0, 0, 1, 1] high [0, 0, 1, 1] {{.*}} -> tensor<1x4x10x10xui8>
// CHECK: dlc.slice %[[P]] start [0, 0, 0, 0] size [1, 4, 4, 4] stride [1, 1, 2, 2]
// CHECK: dlc.slice %[[P]] start [0, 0, 0, 1]
// CHECK: dlc.slice %[[P]] start [0, 0, 2, 2]
// CHECK: %[[X:.*]] = dlc.concat 1({{.*}}) : {{.*}} -> tensor<1x36x4x4xui8>
// CHECK: dlc.reshape %[[X]] : (tensor<1x36x4x4xui8>) -> tensor<1x36x16xui8>
// CHECK: %[[S:.*]] = dlc.matmul %{{.*}}, %{{.*}} a_zero_point %{{.*}} transpose_a transpose_b {dlc.generated_sums} : (tensor<1x36x16xui8>, tensor<256x36xi8>, tensor<i32>)
// CHECK-SAME: -> tensor<1x16x256xi32>
// CHECK: %[[F:.*]] = dlc.cast %[[S]] to f32
// CHECK: %[[SC:.*]] = dlc.reshape %{{.*}} -> tensor<256xf32>
// CHECK: %[[M:.*]] = dlc.mul %[[F]], %[[SC]] : (tensor<1x16x256xf32>, tensor<256xf32>)
// CHECK: %[[R:.*]] = dlc.relu %[[M]]
// CHECK: %[[T:.*]] = dlc.transpose %[[R]] [0, 2, 1]
// CHECK: %[[Y:.*]] = dlc.reshape %[[T]] : (tensor<1x256x16xf32>) -> tensor<1x256x4x4xf32>
// CHECK: return %[[Y]]
func.func @window(%x: tensor<1x4x8x8xui8>, %scales: tensor<256x1x1xf32>) -> tensor<1x256x4x4xf32> {
  %z = dlc.constant dense<12> : tensor<i32>
  %0 = dlc.cast %x to i32 : (tensor<1x4x8x8xui8>) -> tensor<1x4x8x8xi32>
  %1 = dlc.sub %0, %z : (tensor<1x4x8x8xi32>, tensor<i32>) -> tensor<1x4x8x8xi32>
  %w = dlc.constant dense<7> : tensor<256x4x3x3xi8>
  %2 = dlc.cast %w to i32 : (tensor<256x4x3x3xi8>) -> tensor<256x4x3x3xi32>
  %3 = dlc.conv %1, %2 {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xi32>, tensor<256x4x3x3xi32>) -> tensor<1x256x4x4xi32>
  %4 = dlc.cast %3 to f32 : (tensor<1x256x4x4xi32>) -> tensor<1x256x4x4xf32>
  %5 = dlc.mul %4, %scales : (tensor<1x256x4x4xf32>, tensor<256x1x1xf32>) -> tensor<1x256x4x4xf32>
  %6 = dlc.relu %5 : (tensor<1x256x4x4xf32>) -> tensor<1x256x4x4xf32>
  return %6 : tensor<1x256x4x4xf32>
}

// A 1x1 window reads the image directly and includes additions to the sums. Operations after an 8-bit value are another kernel.
// CHECK-LABEL: @point
// CHECK-NOT: dlc.pad
// CHECK-NOT: dlc.slice
// CHECK: %[[S:.*]] = dlc.matmul {{.*}} -> tensor<1x16x128xi32>
// CHECK: %[[B:.*]] = dlc.add %[[S]], %{{.*}} : (tensor<1x16x128xi32>, tensor<128xi32>)
// CHECK: %[[N:.*]] = dlc.cast %[[B]] to i8
// CHECK: %[[Y:.*]] = dlc.reshape {{.*}} -> tensor<1x128x4x4xi8>
// CHECK: dlc.cast %[[Y]] to f32
// FUSE-LABEL: @point
// FUSE: dlc.fusion
// FUSE: %[[S:.*]] = dlc.matmul {{.*}}dlc.generated_sums
// FUSE-NEXT: dlc.add %[[S]]
// FUSE-NEXT: dlc.yield
func.func @point(%x: tensor<1x64x4x4xi8>, %b: tensor<128xi32>) -> tensor<1x128x4x4xf32> {
  %0 = dlc.cast %x to i32 : (tensor<1x64x4x4xi8>) -> tensor<1x64x4x4xi32>
  %w = dlc.constant dense<7> : tensor<128x64x1x1xi8>
  %2 = dlc.cast %w to i32 : (tensor<128x64x1x1xi8>) -> tensor<128x64x1x1xi32>
  %3 = dlc.conv %0, %2, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x64x4x4xi32>, tensor<128x64x1x1xi32>, tensor<128xi32>) -> tensor<1x128x4x4xi32>
  %4 = dlc.cast %3 to i8 : (tensor<1x128x4x4xi32>) -> tensor<1x128x4x4xi8>
  %5 = dlc.cast %4 to f32 : (tensor<1x128x4x4xi8>) -> tensor<1x128x4x4xf32>
  return %5 : tensor<1x128x4x4xf32>
}

// Several groups are not a matmul: they are computed in f32.
// CHECK-LABEL: @groups
// CHECK: dlc.conv {{.*}} -> tensor<1x4x4x4xf32>
func.func @groups(%x: tensor<1x4x4x4xi8>) -> tensor<1x4x4x4xi32> {
  %0 = dlc.cast %x to i32 : (tensor<1x4x4x4xi8>) -> tensor<1x4x4x4xi32>
  %w = dlc.constant dense<7> : tensor<4x1x1x1xi8>
  %2 = dlc.cast %w to i32 : (tensor<4x1x1x1xi8>) -> tensor<4x1x1x1xi32>
  %3 = dlc.conv %0, %2 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 4 : i64} : (tensor<1x4x4x4xi32>, tensor<4x1x1x1xi32>) -> tensor<1x4x4x4xi32>
  return %3 : tensor<1x4x4x4xi32>
}

// A zero point that is known only at run time also pads in 8 bits.
// CHECK-LABEL: @dynamic
// CHECK: dlc.pad constant %{{.*}}, %arg1 low [0, 0, 1, 1] high [0, 0, 1, 1] {{.*}} -> tensor<1x4x6x6xui8>
// CHECK: dlc.matmul {{.*}} a_zero_point {{.*}} -> tensor<1x16x256xi32>
func.func @dynamic(%x: tensor<1x4x4x4xui8>, %zero: tensor<ui8>) -> tensor<1x256x4x4xi32> {
  %0 = dlc.cast %x to i32 : (tensor<1x4x4x4xui8>) -> tensor<1x4x4x4xi32>
  %z = dlc.cast %zero to i32 : (tensor<ui8>) -> tensor<i32>
  %1 = dlc.sub %0, %z : (tensor<1x4x4x4xi32>, tensor<i32>) -> tensor<1x4x4x4xi32>
  %w = dlc.constant dense<7> : tensor<256x4x3x3xi8>
  %2 = dlc.cast %w to i32 : (tensor<256x4x3x3xi8>) -> tensor<256x4x3x3xi32>
  %3 = dlc.conv %1, %2 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x4x4xi32>, tensor<256x4x3x3xi32>) -> tensor<1x256x4x4xi32>
  return %3 : tensor<1x256x4x4xi32>
}

// A few groups whose sums are not exact in f32 become separate matmuls.
// CHECK-LABEL: @deep_groups
// CHECK: dlc.slice %arg0 start [0, 0, 0, 0] size [1, 600, 4, 4]
// CHECK: dlc.matmul {{.*}} -> tensor<1x16x14xi32>
// CHECK: dlc.slice %arg0 start [0, 600, 0, 0] size [1, 600, 4, 4]
// CHECK: dlc.matmul {{.*}} -> tensor<1x16x14xi32>
// CHECK: dlc.concat 1({{.*}}) : {{.*}} -> tensor<1x28x4x4xi32>
func.func @deep_groups(%x: tensor<1x1200x4x4xui8>) -> tensor<1x28x4x4xi32> {
  %0 = dlc.cast %x to i32 : (tensor<1x1200x4x4xui8>) -> tensor<1x1200x4x4xi32>
  %w = dlc.constant dense<7> : tensor<28x600x1x1xi8>
  %2 = dlc.cast %w to i32 : (tensor<28x600x1x1xi8>) -> tensor<28x600x1x1xi32>
  %3 = dlc.conv %0, %2 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 2 : i64} : (tensor<1x1200x4x4xi32>, tensor<28x600x1x1xi32>) -> tensor<1x28x4x4xi32>
  return %3 : tensor<1x28x4x4xi32>
}

// Padding by a zero point that is out of range for the image's type would change values.
// CHECK-LABEL: @outside
// CHECK-NOT: dlc.pad
// CHECK: dlc.conv
func.func @outside(%x: tensor<1x4x4x4xi8>) -> tensor<1x256x4x4xi32> {
  %z = dlc.constant dense<200> : tensor<i32>
  %0 = dlc.cast %x to i32 : (tensor<1x4x4x4xi8>) -> tensor<1x4x4x4xi32>
  %1 = dlc.sub %0, %z : (tensor<1x4x4x4xi32>, tensor<i32>) -> tensor<1x4x4x4xi32>
  %w = dlc.constant dense<7> : tensor<256x4x3x3xi8>
  %2 = dlc.cast %w to i32 : (tensor<256x4x3x3xi8>) -> tensor<256x4x3x3xi32>
  %3 = dlc.conv %1, %2 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x4x4xi32>, tensor<256x4x3x3xi32>) -> tensor<1x256x4x4xi32>
  return %3 : tensor<1x256x4x4xi32>
}
