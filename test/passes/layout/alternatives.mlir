// Operations for which libraries have no fast code are replaced. Transposed convolutions with strides become convolutions whose results are interleaved, in rows of channels.
// RUN: dlc-opt %s --dlc-place --dlc-layout='threads=1' --dlc-verify-layout --split-input-file | FileCheck %s

// 16 taps at stride 8: two taps for each of 8 phases.
// CHECK-LABEL: @vocoder
// CHECK-NOT: dlc.conv_transpose
// CHECK: dlc.conv %{{.*}}, %{{.*}}, %{{.*}} {dilations = array<i64: 1>, groups = 1 : i64, high = array<i64: 1>, low = array<i64: 1>, strides = array<i64: 1>}{{.*}} -> tensor<1x128x501xf32
// CHECK: dlc.transposed_view
// CHECK: dlc.transpose
// CHECK: dlc.slice {{.*}} start [0, 4, 0] size [1, 4000, 16] stride [1, 1, 1]
// CHECK: dlc.transposed_view
func.func @vocoder(%x: tensor<1x32x500xf32>, %w: tensor<32x16x16xf32>, %b: tensor<16xf32>) -> tensor<1x16x4000xf32> {
  %0 = dlc.conv_transpose %x, %w, %b {strides = array<i64: 8>, dilations = array<i64: 1>, low = array<i64: 4>, high = array<i64: 4>, extra = array<i64: 0>, groups = 1 : i64} : (tensor<1x32x500xf32>, tensor<32x16x16xf32>, tensor<16xf32>) -> tensor<1x16x4000xf32>
  return %0 : tensor<1x16x4000xf32>
}

// -----

// Dilated windows cannot be split into phases; without strides there is one phase.
// CHECK-LABEL: @left
// CHECK-COUNT-2: dlc.conv_transpose
func.func @left(%x: tensor<1x32x100xf32>, %w: tensor<32x32x4xf32>) -> tensor<1x32x313xf32> {
  %0 = dlc.conv_transpose %x, %w {strides = array<i64: 3>, dilations = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, extra = array<i64: 0>, groups = 1 : i64} : (tensor<1x32x100xf32>, tensor<32x32x4xf32>) -> tensor<1x32x304xf32>
  %1 = dlc.conv_transpose %0, %w {strides = array<i64: 1>, dilations = array<i64: 3>, low = array<i64: 0>, high = array<i64: 0>, extra = array<i64: 0>, groups = 1 : i64} : (tensor<1x32x304xf32>, tensor<32x32x4xf32>) -> tensor<1x32x313xf32>
  return %1 : tensor<1x32x313xf32>
}

// -----

// One-dimensional depthwise convolutions become convolutions of images with one row.
// CHECK-LABEL: @frames
// CHECK: dlc.conv {{.*}}dilations = array<i64: 1, 1>, groups = 256 : i64, high = array<i64: 0, 15>, low = array<i64: 0, 15>, strides = array<i64: 1, 1>{{.*}} -> tensor<1x256x1x500xf32
func.func @frames(%x: tensor<1x256x500xf32>, %w: tensor<256x1x31xf32>) -> tensor<1x256x500xf32> {
  %0 = dlc.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 15>, high = array<i64: 15>, groups = 256 : i64} : (tensor<1x256x500xf32>, tensor<256x1x31xf32>) -> tensor<1x256x500xf32>
  return %0 : tensor<1x256x500xf32>
}

// -----

// So does the gradient of its images; the weight gradient supports one dimension.
// CHECK-LABEL: @frames_back
// CHECK-DAG: dlc.conv_weight_grad {{.*}}window = array<i64: 31>}{{.*}}#dlc.on<cpu, aBc16b>{{.*}} -> tensor<256x1x31xf32
// CHECK-DAG: dlc.conv_transpose {{.*}}extra = array<i64: 0, 0>, groups = 256 : i64, high = array<i64: 0, 15>{{.*}} -> tensor<4x256x1x300xf32
func.func @frames_back(%x: tensor<4x256x300xf32>, %dy: tensor<4x256x300xf32>, %w: tensor<256x1x31xf32>) -> (tensor<256x1x31xf32>, tensor<4x256x300xf32>) {
  %0 = dlc.conv_weight_grad %x, %dy {window = array<i64: 31>, strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 15>, high = array<i64: 15>, groups = 256 : i64} : (tensor<4x256x300xf32>, tensor<4x256x300xf32>) -> tensor<256x1x31xf32>
  %1 = dlc.conv_transpose %dy, %w {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 15>, high = array<i64: 15>, extra = array<i64: 0>, groups = 256 : i64} : (tensor<4x256x300xf32>, tensor<256x1x31xf32>) -> tensor<4x256x300xf32>
  return %0, %1 : tensor<256x1x31xf32>, tensor<4x256x300xf32>
}

// -----

// A three-dimensional one becomes a sum over planes.
// CHECK-LABEL: @volumes
// CHECK-COUNT-3: dlc.conv {{.*}} -> tensor<8x256x14x14xf32
// CHECK-NOT: dlc.conv
func.func @volumes(%x: tensor<1x256x8x14x14xf32>, %w: tensor<256x1x3x3x3xf32>) -> tensor<1x256x8x14x14xf32> {
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1, 1>, dilations = array<i64: 1, 1, 1>, low = array<i64: 1, 1, 1>, high = array<i64: 1, 1, 1>, groups = 256 : i64} : (tensor<1x256x8x14x14xf32>, tensor<256x1x3x3x3xf32>) -> tensor<1x256x8x14x14xf32>
  return %0 : tensor<1x256x8x14x14xf32>
}

// -----

// With two results per channel, each channel is duplicated.
// CHECK-LABEL: @twice
// CHECK: dlc.conv {{.*}}groups = 64 : i64{{.*}} -> tensor<1x64x56x56xf32
func.func @twice(%x: tensor<1x32x56x56xf32>, %w: tensor<64x1x9x9xf32>) -> tensor<1x64x56x56xf32> {
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 4, 4>, high = array<i64: 4, 4>, groups = 32 : i64} : (tensor<1x32x56x56xf32>, tensor<64x1x9x9xf32>) -> tensor<1x64x56x56xf32>
  return %0 : tensor<1x64x56x56xf32>
}

// -----

// 16-bit floats are computed in f32 if the library does not support them; on processors that multiply them this is not changed.
// CHECK-LABEL: @half
// CHECK: dlc.conv {{.*}} -> tensor<1x64x56x56xf{{32|16}}
// CHECK: return {{.*}}tensor<1x64x56x56xf16
func.func @half(%x: tensor<1x64x56x56xf16>, %w: tensor<64x64x3x3xf16>) -> tensor<1x64x56x56xf16> {
  %0 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x56x56xf16>, tensor<64x64x3x3xf16>) -> tensor<1x64x56x56xf16>
  return %0 : tensor<1x64x56x56xf16>
}

// -----

// One channel would leave lanes unused: products of all taps are shifted and added. With strides most of them would be unused.
// CHECK-LABEL: @voice
// CHECK: dlc.matmul {{.*}} -> tensor<1x7x16000xf32
// CHECK-COUNT-6: dlc.pad constant
// CHECK: dlc.conv
func.func @voice(%x: tensor<1x64x16000xf32>, %w: tensor<1x64x7xf32>) -> (tensor<1x1x16000xf32>, tensor<1x1x8000xf32>) {
  %0 = dlc.conv %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 3>, high = array<i64: 3>, groups = 1 : i64} : (tensor<1x64x16000xf32>, tensor<1x64x7xf32>) -> tensor<1x1x16000xf32>
  %1 = dlc.conv %x, %w {strides = array<i64: 2>, dilations = array<i64: 1>, low = array<i64: 3>, high = array<i64: 3>, groups = 1 : i64} : (tensor<1x64x16000xf32>, tensor<1x64x7xf32>) -> tensor<1x1x8000xf32>
  return %0, %1 : tensor<1x1x16000xf32>, tensor<1x1x8000xf32>
}

// -----

// A depthwise transposed convolution with strides: each phase of a channel becomes a channel of a depthwise convolution.
// CHECK-LABEL: @enlarged
// CHECK-NOT: dlc.conv_transpose
// CHECK: dlc.conv {{.*}}groups = 256 : i64{{.*}} -> tensor<1x256x29x29xf32
// CHECK: dlc.slice {{.*}} -> tensor<1x64x56x56xf32
func.func @enlarged(%x: tensor<1x64x28x28xf32>, %w: tensor<64x1x4x4xf32>) -> tensor<1x64x56x56xf32> {
  %0 = dlc.conv_transpose %x, %w {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, extra = array<i64: 0, 0>, groups = 64 : i64} : (tensor<1x64x28x28xf32>, tensor<64x1x4x4xf32>) -> tensor<1x64x56x56xf32>
  return %0 : tensor<1x64x56x56xf32>
}
