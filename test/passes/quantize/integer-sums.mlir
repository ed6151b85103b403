// RUN: dlc-opt %s -dlc-raise-quantized -dlc-integer-sums=costs=assumed -dlc-expand-quantized -cse | FileCheck %s
// RUN: dlc-opt %s -dlc-raise-quantized "-dlc-integer-sums=costs=assumed device=cuda:0 place=some=cpu" -dlc-expand-quantized -dlc-simplify | FileCheck %s --check-prefix=BOTH
// RUN: dlc-opt %s -dlc-raise-quantized "-dlc-integer-sums=costs=assumed device=cuda:0" -dlc-expand-quantized -cse | FileCheck %s --check-prefix=GPU

// Sums of integers, then one factor for each channel. Constant weights of matmuls are transposed for GPUs.
// CHECK-LABEL: @conv
// CHECK: %[[Z:.*]] = dlc.constant dense<12> : tensor<i32>
// CHECK: %[[W:.*]] = dlc.constant dense<7> : tensor<6x4x3x3xi8>
// CHECK: %[[C:.*]] = dlc.reshape %{{.*}} : (tensor<6x1x1x1xf32>) -> tensor<6x1x1xf32>
// CHECK: %[[S:.*]] = dlc.conv %arg0, %[[W]] x_zero_point %[[Z]] {{.*}} -> tensor<1x6x8x8xi32>
// CHECK: %[[F:.*]] = dlc.cast %[[S]] to f32
// CHECK: %[[SC:.*]] = dlc.mul %[[C]], %{{.*}} : (tensor<6x1x1xf32>, tensor<f32>) -> tensor<6x1x1xf32>
// CHECK: dlc.mul %[[F]], %[[SC]]
// CHECK: dlc.add

// GPU-LABEL: @conv
// GPU: dlc.conv {{.*}} -> tensor<1x6x8x8xi32>
// BOTH-LABEL: @conv
// BOTH-NOT: dlc.conv {{.*}}i32>
func.func @conv(%x: tensor<1x4x8x8xui8>, %b: tensor<6xf32>, %ws: tensor<6x1x1x1xf32>) -> tensor<1x6x8x8xf32> {
  %xz = dlc.constant dense<12> : tensor<i32>
  %xs = dlc.constant dense<0.25> : tensor<f32>
  %0 = dlc.cast %x to i32 : (tensor<1x4x8x8xui8>) -> tensor<1x4x8x8xi32>
  %1 = dlc.sub %0, %xz : (tensor<1x4x8x8xi32>, tensor<i32>) -> tensor<1x4x8x8xi32>
  %2 = dlc.cast %1 to f32 : (tensor<1x4x8x8xi32>) -> tensor<1x4x8x8xf32>
  %3 = dlc.mul %2, %xs : (tensor<1x4x8x8xf32>, tensor<f32>) -> tensor<1x4x8x8xf32>
  %w = dlc.constant dense<7> : tensor<6x4x3x3xi8>
  %4 = dlc.cast %w to i32 : (tensor<6x4x3x3xi8>) -> tensor<6x4x3x3xi32>
  %5 = dlc.cast %4 to f32 : (tensor<6x4x3x3xi32>) -> tensor<6x4x3x3xf32>
  %6 = dlc.mul %5, %ws : (tensor<6x4x3x3xf32>, tensor<6x1x1x1xf32>) -> tensor<6x4x3x3xf32>
  %y = dlc.conv %3, %6, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>, tensor<6xf32>) -> tensor<1x6x8x8xf32>
  return %y : tensor<1x6x8x8xf32>
}

// Sums of products of up to 255 times 128 are exact in f32 for 512 of them (513 in steps of 64).
// CHECK-LABEL: @product
// CHECK: dlc.matmul {{.*}} -> tensor<2x8xi32>
// GPU-LABEL: @product
// GPU: dlc.matmul {{.*}} -> tensor<2x8xi32>
// BOTH-LABEL: @product
// BOTH: %[[A:.*]] = dlc.matmul {{.*}}dlc.accuracy = "strict", dlc.precision = "f32"{{.*}} : (tensor<2x512xf32>, tensor<512x8xf32>) -> tensor<2x8xf32>
// BOTH: dlc.cast %[[A]] to i32
// BOTH: %[[B:.*]] = dlc.matmul {{.*}} : (tensor<2x88xf32>, tensor<88x8xf32>) -> tensor<2x8xf32>
// BOTH: dlc.cast %[[B]] to i32
// BOTH: dlc.add {{.*}} -> tensor<2x8xi32>
func.func @product(%x: tensor<2x600xui8>, %zero: tensor<ui8>, %w: tensor<600x8xi8>) -> tensor<2x8xi32> {
  %z = dlc.cast %zero to i32 : (tensor<ui8>) -> tensor<i32>
  %0 = dlc.cast %x to i32 : (tensor<2x600xui8>) -> tensor<2x600xi32>
  %1 = dlc.sub %0, %z : (tensor<2x600xi32>, tensor<i32>) -> tensor<2x600xi32>
  %2 = dlc.cast %w to i32 : (tensor<600x8xi8>) -> tensor<600x8xi32>
  %y = dlc.matmul %1, %2 : (tensor<2x600xi32>, tensor<600x8xi32>) -> tensor<2x8xi32>
  return %y : tensor<2x8xi32>
}

// Integers and zero points that were not 8-bit values have no known range.
// CHECK-LABEL: @others
// CHECK: dlc.matmul {{.*}} -> tensor<2x2xi32>
// BOTH-LABEL: @others
// BOTH: dlc.matmul {{.*}} -> tensor<2x2xi32>
func.func @others(%x: tensor<2x4xi32>, %w: tensor<4x2xi32>) -> tensor<2x2xi32> {
  %y = dlc.matmul %x, %w : (tensor<2x4xi32>, tensor<4x2xi32>) -> tensor<2x2xi32>
  return %y : tensor<2x2xi32>
}

// BOTH-LABEL: @other_points
// BOTH: dlc.matmul {{.*}} -> tensor<2x2xi32>
func.func @other_points(%x: tensor<2x4xi8>, %z: tensor<i32>, %w: tensor<4x2xi8>) -> tensor<2x2xi32> {
  %0 = dlc.cast %x to i32 : (tensor<2x4xi8>) -> tensor<2x4xi32>
  %1 = dlc.sub %0, %z : (tensor<2x4xi32>, tensor<i32>) -> tensor<2x4xi32>
  %2 = dlc.cast %w to i32 : (tensor<4x2xi8>) -> tensor<4x2xi32>
  %y = dlc.matmul %1, %2 : (tensor<2x4xi32>, tensor<4x2xi32>) -> tensor<2x2xi32>
  return %y : tensor<2x2xi32>
}

// A reshaped value has one scale, too.
// CHECK-LABEL: @seen
// CHECK: %[[X:.*]] = dlc.transpose %arg0 [1, 0] : (tensor<4x16xi8>)
// CHECK: dlc.matmul %[[X]], %{{.*}} -> tensor<16x8xi32>
func.func @seen(%x: tensor<4x16xi8>, %s: tensor<f32>) -> tensor<16x8xf32> {
  %0 = dlc.cast %x to i32 : (tensor<4x16xi8>) -> tensor<4x16xi32>
  %1 = dlc.cast %0 to f32 : (tensor<4x16xi32>) -> tensor<4x16xf32>
  %2 = dlc.mul %1, %s : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  %3 = dlc.transpose %2 [1, 0] : (tensor<4x16xf32>) -> tensor<16x4xf32>
  %w = dlc.constant dense<3> : tensor<4x8xi8>
  %4 = dlc.cast %w to i32 : (tensor<4x8xi8>) -> tensor<4x8xi32>
  %5 = dlc.cast %4 to f32 : (tensor<4x8xi32>) -> tensor<4x8xf32>
  %6 = dlc.mul %5, %s : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %y = dlc.matmul %3, %6 : (tensor<16x4xf32>, tensor<4x8xf32>) -> tensor<16x8xf32>
  return %y : tensor<16x8xf32>
}

// A matmul of one f32 row is bound by weight bandwidth and reads 8-bit weights; matmuls of many rows do not.
// CHECK-LABEL: @row
// CHECK: %[[W:.*]] = dlc.cast %{{.*}} to f32 : (tensor<64x128xi8>) -> tensor<64x128xf32>
// CHECK: %[[S:.*]] = dlc.matmul %{{.*}}, %[[W]] : (tensor<1x64xf32>
// CHECK: dlc.mul %[[S]], %{{.*}} : (tensor<1x128xf32>, tensor<128xf32>)
// CHECK: dlc.matmul {{.*}} : (tensor<9x64xf32>
// CHECK-NOT: dlc.mul
// CHECK: return
func.func @row(%x: tensor<1x64xf32>, %more: tensor<9x64xf32>, %s: tensor<1x128xf32>) -> (tensor<1x128xf32>, tensor<9x128xf32>) {
  %w = dlc.constant dense<3> : tensor<64x128xi8>
  %0 = dlc.cast %w to i32 : (tensor<64x128xi8>) -> tensor<64x128xi32>
  %1 = dlc.cast %0 to f32 : (tensor<64x128xi32>) -> tensor<64x128xf32>
  %2 = dlc.mul %1, %s : (tensor<64x128xf32>, tensor<1x128xf32>) -> tensor<64x128xf32>
  %y = dlc.matmul %x, %2 : (tensor<1x64xf32>, tensor<64x128xf32>) -> tensor<1x128xf32>
  %z = dlc.matmul %more, %2 : (tensor<9x64xf32>, tensor<64x128xf32>) -> tensor<9x128xf32>
  return %y, %z : tensor<1x128xf32>, tensor<9x128xf32>
}

// Zero points of 0 for each channel are dropped. Unsigned weights are shifted, and the sums over windows are computed from sums over channels.
// CHECK-LABEL: @channels
// CHECK: dlc.conv {{.*}}groups = 8 : i64{{.*}} -> tensor<1x8x4x4xi32>
// CHECK: dlc.conv {{.*}}groups = 1 : i64{{.*}}tensor<8x8x3x3xi8>) -> tensor<1x8x4x4xi32>
// CHECK: dlc.conv {{.*}}low = array<i64: 0, 0>{{.*}}tensor<1x8x1x1xi8>) -> tensor<1x1x4x4xi32>
// CHECK: dlc.conv {{.*}}low = array<i64: 1, 1>{{.*}}tensor<1x1x3x3xf32>) -> tensor<1x1x4x4xf32>
func.func @channels(%x: tensor<1x8x4x4xui8>, %s: tensor<f32>, %ws: tensor<8x1x1x1xf32>) -> (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) {
  %0 = dlc.cast %x to i32 : (tensor<1x8x4x4xui8>) -> tensor<1x8x4x4xi32>
  %1 = dlc.cast %0 to f32 : (tensor<1x8x4x4xi32>) -> tensor<1x8x4x4xf32>
  %2 = dlc.mul %1, %s : (tensor<1x8x4x4xf32>, tensor<f32>) -> tensor<1x8x4x4xf32>
  %wz = dlc.constant dense<0> : tensor<8x1x1x1xi32>
  %w = dlc.constant dense<7> : tensor<8x1x3x3xi8>
  %3 = dlc.cast %w to i32 : (tensor<8x1x3x3xi8>) -> tensor<8x1x3x3xi32>
  %4 = dlc.sub %3, %wz : (tensor<8x1x3x3xi32>, tensor<8x1x1x1xi32>) -> tensor<8x1x3x3xi32>
  %5 = dlc.cast %4 to f32 : (tensor<8x1x3x3xi32>) -> tensor<8x1x3x3xf32>
  %6 = dlc.mul %5, %ws : (tensor<8x1x3x3xf32>, tensor<8x1x1x1xf32>) -> tensor<8x1x3x3xf32>
  %y = dlc.conv %2, %6 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 8 : i64} : (tensor<1x8x4x4xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x4x4xf32>
  %vz = dlc.constant dense<[[[[3]]], [[[0]]], [[[9]]], [[[200]]], [[[1]]], [[[2]]], [[[3]]], [[[4]]]]> : tensor<8x1x1x1xi32>
  %v = dlc.constant dense<201> : tensor<8x8x3x3xui8>
  %7 = dlc.cast %v to i32 : (tensor<8x8x3x3xui8>) -> tensor<8x8x3x3xi32>
  %8 = dlc.sub %7, %vz : (tensor<8x8x3x3xi32>, tensor<8x1x1x1xi32>) -> tensor<8x8x3x3xi32>
  %9 = dlc.cast %8 to f32 : (tensor<8x8x3x3xi32>) -> tensor<8x8x3x3xf32>
  %10 = dlc.mul %9, %ws : (tensor<8x8x3x3xf32>, tensor<8x1x1x1xf32>) -> tensor<8x8x3x3xf32>
  %z = dlc.conv %2, %10 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x4x4xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x4x4xf32>
  return %y, %z : tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>
}

// Dequantized 16-bit values remain in f32. Other readers use the integers.
// CHECK-LABEL: @sixteen
// CHECK: %[[M:.*]] = dlc.min
// CHECK: %[[C:.*]] = dlc.sub %[[M]], %{{.*}} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
// CHECK: %[[Y:.*]] = dlc.mul %[[C]], %arg1
// CHECK: %[[Q:.*]] = dlc.cast %{{.*}} to ui16
// CHECK: return %[[Y]], %[[Q]]
func.func @sixteen(%x: tensor<4x8xf32>, %s: tensor<f32>) -> (tensor<4x8xf32>, tensor<4x8xui16>) {
  %zero = dlc.constant dense<32000> : tensor<ui16>
  %0 = dlc.quantize %x, %s, %zero to ui16 : (tensor<4x8xf32>, tensor<f32>, tensor<ui16>) -> tensor<4x8xui16>
  %y = dlc.dequantize %0, %s, %zero : (tensor<4x8xui16>, tensor<f32>, tensor<ui16>) -> tensor<4x8xf32>
  %z = dlc.quantize %x, %s, %zero to ui16 low 5 : (tensor<4x8xf32>, tensor<f32>, tensor<ui16>) -> tensor<4x8xui16>
  return %y, %z : tensor<4x8xf32>, tensor<4x8xui16>
}

// A quantization with the scale and zero point of the preceding dequantization is removed, also with data movement between them.
// CHECK-LABEL: @again
// CHECK: %[[M:.*]] = dlc.min
// CHECK: %[[T:.*]] = dlc.transpose %[[M]] [1, 0]
// CHECK: %[[C:.*]] = dlc.sub %[[T]], %{{.*}} : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
// CHECK: %[[Y:.*]] = dlc.mul %[[C]]
// CHECK: return %[[Y]]
func.func @again(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %s = dlc.constant dense<0.3> : tensor<f32>
  %zero = dlc.constant dense<32000> : tensor<ui16>
  %0 = dlc.quantize %x, %s, %zero to ui16 : (tensor<4x8xf32>, tensor<f32>, tensor<ui16>) -> tensor<4x8xui16>
  %1 = dlc.dequantize %0, %s, %zero : (tensor<4x8xui16>, tensor<f32>, tensor<ui16>) -> tensor<4x8xf32>
  %t = dlc.transpose %1 [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %2 = dlc.quantize %t, %s, %zero to ui16 : (tensor<8x4xf32>, tensor<f32>, tensor<ui16>) -> tensor<8x4xui16>
  %y = dlc.dequantize %2, %s, %zero : (tensor<8x4xui16>, tensor<f32>, tensor<ui16>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// A different scale, zero point or range changes the values.
// CHECK-LABEL: @others_again
// CHECK-COUNT-3: dlc.cast {{.*}} to i8
func.func @others_again(%x: tensor<4x8xi8>) -> (tensor<4x8xi8>, tensor<4x8xi8>, tensor<4x8xi8>) {
  %s = dlc.constant dense<0.3> : tensor<f32>
  %r = dlc.constant dense<0.31> : tensor<f32>
  %zero = dlc.constant dense<3> : tensor<i8>
  %0 = dlc.dequantize %x, %s, %zero : (tensor<4x8xi8>, tensor<f32>, tensor<i8>) -> tensor<4x8xf32>
  %a = dlc.quantize %0, %r, %zero to i8 : (tensor<4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<4x8xi8>
  %b = dlc.quantize %0, %s to i8 : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xi8>
  %c = dlc.quantize %0, %s, %zero to i8 low -127 : (tensor<4x8xf32>, tensor<f32>, tensor<i8>) -> tensor<4x8xi8>
  return %a, %b, %c : tensor<4x8xi8>, tensor<4x8xi8>, tensor<4x8xi8>
}

// A transposed convolution of integers becomes one convolution for all phases of its strides.
// CHECK-LABEL: @transposed
// CHECK: %[[S:.*]] = dlc.conv {{.*}} : (tensor<1x4x8x8xui8>, tensor<24x4x1x1xi8>) -> tensor<1x24x8x8xi32>
// CHECK: %[[F:.*]] = dlc.cast %[[S]] to f32
// CHECK: dlc.mul %[[F]], %{{.*}} tensor<24x1x1xf32>
// CHECK: dlc.add %{{.*}} tensor<24x1x1xf32>
// CHECK: return %{{.*}} : tensor<1x6x16x16xf32>
func.func @transposed(%x: tensor<1x4x8x8xui8>, %b: tensor<6xf32>, %ws: tensor<1x6x1x1xf32>, %s: tensor<f32>) -> tensor<1x6x16x16xf32> {
  %w = dlc.constant dense<3> : tensor<4x6x2x2xi8>
  %0 = dlc.cast %x to i32 : (tensor<1x4x8x8xui8>) -> tensor<1x4x8x8xi32>
  %1 = dlc.cast %0 to f32 : (tensor<1x4x8x8xi32>) -> tensor<1x4x8x8xf32>
  %2 = dlc.mul %1, %s : (tensor<1x4x8x8xf32>, tensor<f32>) -> tensor<1x4x8x8xf32>
  %3 = dlc.cast %w to i32 : (tensor<4x6x2x2xi8>) -> tensor<4x6x2x2xi32>
  %4 = dlc.cast %3 to f32 : (tensor<4x6x2x2xi32>) -> tensor<4x6x2x2xf32>
  %5 = dlc.mul %4, %ws : (tensor<4x6x2x2xf32>, tensor<1x6x1x1xf32>) -> tensor<4x6x2x2xf32>
  %y = dlc.conv_transpose %2, %5, %b {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, extra = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x6x2x2xf32>, tensor<6xf32>) -> tensor<1x6x16x16xf32>
  return %y : tensor<1x6x16x16xf32>
}

// Each row's scale is applied after the sums, and so is the zero point times the sums of channels.
// CHECK-LABEL: @rows
// CHECK: %[[S:.*]] = dlc.matmul %{{.*}}, %{{.*}} -> tensor<16x8xi32>
// CHECK: %[[F:.*]] = dlc.cast %[[S]] to f32
// CHECK: %[[C:.*]] = dlc.mul %[[F]], %{{.*}} : (tensor<16x8xf32>, tensor<8xf32>)
// CHECK: dlc.mul %[[C]], %{{.*}} : (tensor<16x8xf32>, tensor<16x1xf32>)
// CHECK: %[[R:.*]] = dlc.reshape %arg4 : (tensor<1x16xf32>) -> tensor<16x1xf32>
// CHECK: %[[Z:.*]] = dlc.reshape %arg3 : (tensor<1x16xf32>) -> tensor<16x1xf32>
// CHECK: dlc.matmul %{{.*}} transpose_a : {{.*}} -> tensor<16x8xi32>
// CHECK: dlc.reduce sum %{{.*}} axes [0] keepdims : (tensor<32x8xi32>)
// CHECK: dlc.mul %[[Z]], %{{.*}} : (tensor<16x1xf32>, tensor<8xf32>) -> tensor<16x8xf32>
// CHECK: dlc.sub
// CHECK: dlc.mul %{{.*}}, %[[R]]
func.func @rows(%x: tensor<16x32xi8>, %s: tensor<16x1xf32>, %t: tensor<32x16xui8>, %z: tensor<1x16xf32>, %ts: tensor<1x16xf32>, %ws: tensor<1x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>) {
  %0 = dlc.cast %x to f32 : (tensor<16x32xi8>) -> tensor<16x32xf32>
  %1 = dlc.mul %0, %s : (tensor<16x32xf32>, tensor<16x1xf32>) -> tensor<16x32xf32>
  %2 = dlc.cast %t to f32 : (tensor<32x16xui8>) -> tensor<32x16xf32>
  %3 = dlc.sub %2, %z : (tensor<32x16xf32>, tensor<1x16xf32>) -> tensor<32x16xf32>
  %4 = dlc.mul %3, %ts : (tensor<32x16xf32>, tensor<1x16xf32>) -> tensor<32x16xf32>
  %w = dlc.constant dense<3> : tensor<32x8xi8>
  %5 = dlc.cast %w to f32 : (tensor<32x8xi8>) -> tensor<32x8xf32>
  %6 = dlc.mul %5, %ws : (tensor<32x8xf32>, tensor<1x8xf32>) -> tensor<32x8xf32>
  %y = dlc.matmul %1, %6 : (tensor<16x32xf32>, tensor<32x8xf32>) -> tensor<16x8xf32>
  %v = dlc.matmul %4, %6 transpose_a : (tensor<32x16xf32>, tensor<32x8xf32>) -> tensor<16x8xf32>
  return %y, %v : tensor<16x8xf32>, tensor<16x8xf32>
}

// A scale per column of x cannot be applied after the sums.
// CHECK-LABEL: @columns
// CHECK-NOT: dlc.matmul {{.*}}i32
func.func @columns(%x: tensor<16x32xi8>, %s: tensor<1x32xf32>, %ws: tensor<1x8xf32>) -> tensor<16x8xf32> {
  %0 = dlc.cast %x to f32 : (tensor<16x32xi8>) -> tensor<16x32xf32>
  %1 = dlc.mul %0, %s : (tensor<16x32xf32>, tensor<1x32xf32>) -> tensor<16x32xf32>
  %w = dlc.constant dense<3> : tensor<32x8xi8>
  %5 = dlc.cast %w to f32 : (tensor<32x8xi8>) -> tensor<32x8xf32>
  %6 = dlc.mul %5, %ws : (tensor<32x8xf32>, tensor<1x8xf32>) -> tensor<32x8xf32>
  %y = dlc.matmul %1, %6 : (tensor<16x32xf32>, tensor<32x8xf32>) -> tensor<16x8xf32>
  return %y : tensor<16x8xf32>
}

// Floats that were rounded and clipped are integers, except for NaN, which propagates to its row.
// CHECK-LABEL: @rounded
// CHECK: %[[B:.*]] = dlc.cast %[[Q:.*]] to i8
// CHECK: %[[N:.*]] = dlc.reduce sum %[[Q]] axes [1] keepdims
// CHECK: %[[Z:.*]] = dlc.sub %[[N]], %[[N]]
// CHECK: %[[R:.*]] = dlc.add %arg1, %[[Z]]
// CHECK: dlc.matmul {{.*}} -> tensor<16x8xi32>
// CHECK: dlc.mul %{{.*}}, %[[R]]
// CHECK: dlc.matmul {{.*}} -> tensor<16x8xf32>
func.func @rounded(%x: tensor<16x32xf32>, %s: tensor<16x1xf32>, %ws: tensor<1x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>) {
  %low = dlc.constant dense<-1.28e+02> : tensor<f32>
  %high = dlc.constant dense<1.27e+02> : tensor<f32>
  %more = dlc.constant dense<1.28e+02> : tensor<f32>
  %0 = dlc.round %x : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %1 = dlc.max %0, %low : (tensor<16x32xf32>, tensor<f32>) -> tensor<16x32xf32>
  %2 = dlc.min %1, %high : (tensor<16x32xf32>, tensor<f32>) -> tensor<16x32xf32>
  %3 = dlc.mul %2, %s : (tensor<16x32xf32>, tensor<16x1xf32>) -> tensor<16x32xf32>
  %w = dlc.constant dense<3> : tensor<32x8xi8>
  %4 = dlc.cast %w to f32 : (tensor<32x8xi8>) -> tensor<32x8xf32>
  %5 = dlc.mul %4, %ws : (tensor<32x8xf32>, tensor<1x8xf32>) -> tensor<32x8xf32>
  %y = dlc.matmul %3, %5 : (tensor<16x32xf32>, tensor<32x8xf32>) -> tensor<16x8xf32>
  %6 = dlc.min %1, %more : (tensor<16x32xf32>, tensor<f32>) -> tensor<16x32xf32>
  %7 = dlc.mul %6, %s : (tensor<16x32xf32>, tensor<16x1xf32>) -> tensor<16x32xf32>
  %v = dlc.matmul %7, %5 : (tensor<16x32xf32>, tensor<32x8xf32>) -> tensor<16x8xf32>
  return %y, %v : tensor<16x8xf32>, tensor<16x8xf32>
}

// Weights with a zero point for each column that fit i8 after subtraction have none. Others whose range fits have one zero point.
// CHECK-LABEL: @centred
// CHECK: dlc.matmul %arg0, %{{.*}} : (tensor<4x3xui8>, tensor<3x2xi8>)
// CHECK: dlc.constant dense<{{\[\[}}-128], [-114], [127]]> : tensor<3x1xi8>
// CHECK: dlc.constant dense<-124> : tensor<i32>
// CHECK: dlc.matmul %arg0, %{{.*}} b_zero_point %{{.*}} : (tensor<4x3xui8>, tensor<3x1xi8>, tensor<i32>)
// GPU-LABEL: @centred
// GPU: dlc.constant dense<{{\[\[}}-3, 5, 7], [4, -6, 8]]> : tensor<2x3xi8>
// GPU: dlc.matmul %arg0, %{{.*}} transpose_b : (tensor<4x3xui8>, tensor<2x3xi8>)
func.func @centred(%x: tensor<4x3xui8>) -> (tensor<4x2xi32>, tensor<4x1xi32>) {
  %w = dlc.constant dense<[[0, 5], [8, -5], [10, 9]]> : tensor<3x2xi8>
  %wz = dlc.constant dense<[[3, 1]]> : tensor<1x2xi8>
  %0 = dlc.matmul %x, %w b_zero_point %wz : (tensor<4x3xui8>, tensor<3x2xi8>, tensor<1x2xi8>) -> tensor<4x2xi32>
  %v = dlc.constant dense<[[0], [14], [255]]> : tensor<3x1xui8>
  %vz = dlc.constant dense<[[4]]> : tensor<1x1xui8>
  %1 = dlc.matmul %x, %v b_zero_point %vz : (tensor<4x3xui8>, tensor<3x1xui8>, tensor<1x1xui8>) -> tensor<4x1xi32>
  return %0, %1 : tensor<4x2xi32>, tensor<4x1xi32>
}
