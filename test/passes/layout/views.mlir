// RUN: dlc-opt %s --dlc-place --dlc-layout='threads=1 costs=assumed' --dlc-verify-layout --split-input-file | FileCheck %s

// Transpositions between channels-first and channels-last move nothing, since the convolution's images are channels-last. The sum with the
// residual is fused into the matmul.
// CHECK-LABEL: @block
// CHECK-SAME: %[[X:arg0]]: tensor<1x14x14x64xf32, #dlc.on<cpu>>
// CHECK-NOT: dlc.transpose{{ }}
// CHECK-NOT: dlc.reorder
// CHECK: %[[IMAGE:.+]] = dlc.transposed_view %[[X]] [0, 3, 1, 2] : (tensor<1x14x14x64xf32, #dlc.on<cpu>>) -> tensor<1x64x14x14xf32, #dlc.on<cpu, acdb>>
// CHECK: %[[Y:.+]] = dlc.conv %[[IMAGE]], {{.*}} -> tensor<1x64x14x14xf32, #dlc.on<cpu, acdb>>
// CHECK: %[[ROWS:.+]] = dlc.transposed_view %[[Y]] [0, 2, 3, 1] {{.*}} -> tensor<1x14x14x64xf32, #dlc.on<cpu>>
// CHECK: %[[P:.+]] = dlc.matmul %[[ROWS]]
// CHECK: %[[SUM:.+]] = dlc.add %[[P]], %[[X]] : (tensor<1x14x14x64xf32, #dlc.on<cpu>>, tensor<1x14x14x64xf32, #dlc.on<cpu>>)
// CHECK: %[[NEXT:.+]] = dlc.transposed_view %[[SUM]] [0, 3, 1, 2]
// CHECK: %[[Z:.+]] = dlc.conv %[[NEXT]]
// CHECK: dlc.transposed_view %[[Z]] [0, 2, 3, 1]
// CHECK-NOT: dlc.reorder
// CHECK: return
func.func @block(%x: tensor<1x14x14x64xf32>, %w: tensor<64x1x7x7xf32>, %m: tensor<64x64xf32>) -> tensor<1x14x14x64xf32> {
  %0 = dlc.transpose %x [0, 3, 1, 2] : (tensor<1x14x14x64xf32>) -> tensor<1x64x14x14xf32>
  %1 = dlc.conv %0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 3, 3>, high = array<i64: 3, 3>, groups = 64 : i64} : (tensor<1x64x14x14xf32>, tensor<64x1x7x7xf32>) -> tensor<1x64x14x14xf32>
  %2 = dlc.transpose %1 [0, 2, 3, 1] : (tensor<1x64x14x14xf32>) -> tensor<1x14x14x64xf32>
  %3 = dlc.matmul %2, %m : (tensor<1x14x14x64xf32>, tensor<64x64xf32>) -> tensor<1x14x14x64xf32>
  %4 = dlc.transpose %3 [0, 3, 1, 2] : (tensor<1x14x14x64xf32>) -> tensor<1x64x14x14xf32>
  %5 = dlc.add %4, %0 : (tensor<1x64x14x14xf32>, tensor<1x64x14x14xf32>) -> tensor<1x64x14x14xf32>
  %6 = dlc.conv %5, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 3, 3>, high = array<i64: 3, 3>, groups = 64 : i64} : (tensor<1x64x14x14xf32>, tensor<64x1x7x7xf32>) -> tensor<1x64x14x14xf32>
  %7 = dlc.transpose %6 [0, 2, 3, 1] : (tensor<1x64x14x14xf32>) -> tensor<1x14x14x64xf32>
  return %7 : tensor<1x14x14x64xf32>
}

// -----

// An image's spatial positions become a sequence: merged after the transposition.
// CHECK-LABEL: @sequence
// CHECK: %[[Y:.+]] = dlc.conv {{.*}} -> tensor<1x64x14x14xf32, #dlc.on<cpu, acdb>>
// CHECK: %[[V:.+]] = dlc.transposed_view %[[Y]] [0, 2, 3, 1] {{.*}} -> tensor<1x14x14x64xf32, #dlc.on<cpu>>
// CHECK: dlc.reshape %[[V]] {{.*}} -> tensor<1x196x64xf32, #dlc.on<cpu>>
func.func @sequence(%x: tensor<1x14x14x64xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x196x64xf32> {
  %0 = dlc.transpose %x [0, 3, 1, 2] : (tensor<1x14x14x64xf32>) -> tensor<1x64x14x14xf32>
  %1 = dlc.conv %0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x14x14xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x14x14xf32>
  %2 = dlc.reshape %1 : (tensor<1x64x14x14xf32>) -> tensor<1x64x196xf32>
  %3 = dlc.transpose %2 [0, 2, 1] : (tensor<1x64x196xf32>) -> tensor<1x196x64xf32>
  return %3 : tensor<1x196x64xf32>
}

// -----

// The sum with a convolution's result is computed in its layout, in the epilogue.
// CHECK-LABEL: @joined
// CHECK: dlc.conv
// CHECK: dlc.add {{.*}} -> tensor<1x64x14x14xf32, #dlc.on<cpu, acdb>>
func.func @joined(%x: tensor<1x14x14x64xf32>, %w: tensor<64x1x3x3xf32>) -> tensor<1x14x14x64xf32> {
  %0 = dlc.transpose %x [0, 3, 1, 2] : (tensor<1x14x14x64xf32>) -> tensor<1x64x14x14xf32>
  %1 = dlc.conv %0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 64 : i64} : (tensor<1x64x14x14xf32>, tensor<64x1x3x3xf32>) -> tensor<1x64x14x14xf32>
  %2 = dlc.add %1, %0 : (tensor<1x64x14x14xf32>, tensor<1x64x14x14xf32>) -> tensor<1x64x14x14xf32>
  %3 = dlc.transpose %2 [0, 2, 3, 1] : (tensor<1x64x14x14xf32>) -> tensor<1x14x14x64xf32>
  return %3 : tensor<1x14x14x64xf32>
}

// -----

// A matmul whose rows are the spatial positions of an image reads them in place; in another layout, it reads them
// transposed as before.
// CHECK-LABEL: @product
// CHECK: dlc.conv {{.*}} -> tensor<1x64x14x14xf32, #dlc.on<cpu, acdb>>
// CHECK: dlc.gelu {{.*}} -> tensor<1x64x14x14xf32, #dlc.on<cpu, acdb>>
// CHECK: %[[V:.+]] = dlc.transposed_view %{{.*}} [0, 2, 3, 1] {{.*}} -> tensor<1x14x14x64xf32, #dlc.on<cpu>>
// CHECK: %[[ROWS:.+]] = dlc.reshape %[[V]] {{.*}} -> tensor<1x196x64xf32, #dlc.on<cpu>>
// CHECK: dlc.matmul %[[ROWS]], %{{[^ ]*}} : (tensor<1x196x64xf32, #dlc.on<cpu>>
func.func @product(%x: tensor<1x14x14x64xf32>, %w: tensor<64x1x3x3xf32>, %m: tensor<64x32xf32>) -> tensor<1x196x32xf32> {
  %0 = dlc.transpose %x [0, 3, 1, 2] : (tensor<1x14x14x64xf32>) -> tensor<1x64x14x14xf32>
  %1 = dlc.conv %0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 64 : i64} : (tensor<1x64x14x14xf32>, tensor<64x1x3x3xf32>) -> tensor<1x64x14x14xf32>
  %2 = dlc.reshape %1 : (tensor<1x64x14x14xf32>) -> tensor<1x64x196xf32>
  %3 = dlc.gelu %2 : (tensor<1x64x196xf32>) -> tensor<1x64x196xf32>
  %4 = dlc.matmul %3, %m transpose_a : (tensor<1x64x196xf32>, tensor<64x32xf32>) -> tensor<1x196x32xf32>
  return %4 : tensor<1x196x32xf32>
}

// -----

// CHECK-LABEL: @plain
// CHECK-NOT: dlc.transpose
// CHECK: dlc.matmul %{{[^ ]*}}, %{{[^ ]*}} transpose_a
func.func @plain(%x: tensor<1x64x14x14xf32>, %w: tensor<64x64x3x3xf32>, %m: tensor<64x32xf32>) -> (tensor<1x196x32xf32>, tensor<1x64x14x14xf32>) {
  %2 = dlc.reshape %x : (tensor<1x64x14x14xf32>) -> tensor<1x64x196xf32>
  %3 = dlc.matmul %2, %m transpose_a : (tensor<1x64x196xf32>, tensor<64x32xf32>) -> tensor<1x196x32xf32>
  %1 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x14x14xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x14x14xf32>
  return %3, %1 : tensor<1x196x32xf32>, tensor<1x64x14x14xf32>
}

// -----

// The same with a one-dimensional convolution, which requires layouts of its own rank: images of each rank are transposed once.
// CHECK-LABEL: @two_ranks
// CHECK: %[[Y:.+]] = dlc.conv {{.*}} -> tensor<1x64x14x14xf32, #dlc.on<cpu, acdb>>
// CHECK: %[[V:.+]] = dlc.transposed_view %[[Y]] [0, 2, 3, 1]
// CHECK: %[[ROWS:.+]] = dlc.reshape %[[V]]
// CHECK: dlc.matmul %[[ROWS]], %{{[^ ]*}} : (tensor<1x196x64xf32, #dlc.on<cpu>>
func.func @two_ranks(%x: tensor<1x14x14x64xf32>, %w: tensor<64x64x3x3xf32>, %m: tensor<64x32xf32>, %s: tensor<1x64x196xf32>, %v: tensor<64x64x3xf32>) -> (tensor<1x196x32xf32>, tensor<1x64x196xf32>) {
  %0 = dlc.transpose %x [0, 3, 1, 2] : (tensor<1x14x14x64xf32>) -> tensor<1x64x14x14xf32>
  %1 = dlc.conv %0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x14x14xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x14x14xf32>
  %2 = dlc.reshape %1 : (tensor<1x64x14x14xf32>) -> tensor<1x64x196xf32>
  %3 = dlc.matmul %2, %m transpose_a : (tensor<1x64x196xf32>, tensor<64x32xf32>) -> tensor<1x196x32xf32>
  %4 = dlc.conv %s, %v {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 1>, high = array<i64: 1>, groups = 1 : i64} : (tensor<1x64x196xf32>, tensor<64x64x3xf32>) -> tensor<1x64x196xf32>
  return %3, %4 : tensor<1x196x32xf32>, tensor<1x64x196xf32>
}

// -----

// 64-bit integers, for which there is no reorder, are transposed by dlc.transpose.
// CHECK-LABEL: @places
// CHECK: %[[Y:.+]], %[[P:.+]] = dlc.max_pool_positions {{.*}} -> (tensor<1x64x7x7xf32, #dlc.on<cpu, acdb>>, tensor<1x64x7x7xui8, #dlc.on<cpu, acdb>>)
// CHECK: %[[WIDE:.+]] = dlc.cast {{.*}} to i64
// CHECK: dlc.transposed_view %[[Y]]
// CHECK: dlc.transpose %[[WIDE]] [0, 2, 3, 1] : (tensor<1x64x7x7xi64, #dlc.on<cpu>>) -> tensor<1x7x7x64xi64, #dlc.on<cpu>>
func.func @places(%x: tensor<1x14x14x64xf32>, %w: tensor<64x64x3x3xf32>) -> (tensor<1x7x7x64xf32>, tensor<1x7x7x64xi64>) {
  %0 = dlc.transpose %x [0, 3, 1, 2] : (tensor<1x14x14x64xf32>) -> tensor<1x64x14x14xf32>
  %1 = dlc.conv %0, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x14x14xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x14x14xf32>
  %y, %p = dlc.max_pool_positions %1 {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<1x64x14x14xf32>) -> (tensor<1x64x7x7xf32>, tensor<1x64x7x7xui8>)
  %2 = dlc.cast %p to i64 : (tensor<1x64x7x7xui8>) -> tensor<1x64x7x7xi64>
  %3 = dlc.transpose %y [0, 2, 3, 1] : (tensor<1x64x7x7xf32>) -> tensor<1x7x7x64xf32>
  %4 = dlc.transpose %2 [0, 2, 3, 1] : (tensor<1x64x7x7xi64>) -> tensor<1x7x7x64xi64>
  return %3, %4 : tensor<1x7x7x64xf32>, tensor<1x7x7x64xi64>
}
