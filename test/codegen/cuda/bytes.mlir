// Contractions of 8-bit integers on tensor cores; GPUs before sm_80 do not support them.
// RUN: cuda-text --for sm_90a %s | FileCheck %s
// RUN: cuda-text --for sm_75 %s | FileCheck %s --check-prefix OLD

// The largest tiles: both operands are loaded in vectors along the contracted dimension, several steps ahead. The zero point is subtracted by sums of the other
// operand's columns, and the epilogue stores 8 bits.
// CHECK: dk::mma_bytes<false, true>(c, a, b)
// CHECK-LABEL: k0_cast(const unsigned char *__restrict__ in0, const signed char *__restrict__ in1
// CHECK: const int zero_a = 117;
// CHECK: int total[4][8][4] = {};
// CHECK: int column_sums[8] = {};
// CHECK: dk::copy_async<16>(&tile_a
// CHECK: dk::copy_async<16>(&tile_b
// CHECK: dk::tensor_tiles<{{.*}}_parameters>::multiply(total, {{.*}}, nullptr, column_sums);
// CHECK: dk::sub({{.*}}dk::mul(zero_a, all_column_sums[
// CHECK: dk::store<8>(out0
// OLD-LABEL: k0_cast(
// OLD-NOT: mma_bytes
func.func @main(%x: tensor<4096x4096xui8>, %w: tensor<4096x4096xi8>, %s: tensor<4096xf32>) -> tensor<4096x4096xui8> {
  %p = dlc.constant dense<117> : tensor<i32>
  %y = dlc.matmul %x, %w a_zero_point %p transpose_b : (tensor<4096x4096xui8>, tensor<4096x4096xi8>, tensor<i32>) -> tensor<4096x4096xi32>
  %f = dlc.cast %y to f32 : (tensor<4096x4096xi32>) -> tensor<4096x4096xf32>
  %g = dlc.mul %f, %s : (tensor<4096x4096xf32>, tensor<4096xf32>) -> tensor<4096x4096xf32>
  %r = dlc.relu %g : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %o = dlc.round %r : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %low = dlc.constant dense<0.0> : tensor<f32>
  %high = dlc.constant dense<255.0> : tensor<f32>
  %e = dlc.max %o, %low : (tensor<4096x4096xf32>, tensor<f32>) -> tensor<4096x4096xf32>
  %h = dlc.min %e, %high : (tensor<4096x4096xf32>, tensor<f32>) -> tensor<4096x4096xf32>
  %z = dlc.cast %h to ui8 : (tensor<4096x4096xf32>) -> tensor<4096x4096xui8>
  return %z : tensor<4096x4096xui8>
}

// -----

// Two zero points.
// CHECK: dk::mma_bytes<false, false>(c, a, b)
// CHECK-LABEL: k0_cast(
// CHECK: dk::tensor_tiles<{{.*}}_parameters>::multiply(total, {{.*}}, row_sums, column_sums);
// CHECK: dk::mul(dk::smallest::of<int>(6 * 128, 768) - 0 * 128, dk::mul(zero_a, zero_b))
func.func @main(%x: tensor<512x768xui8>, %w: tensor<768x768xui8>, %s: tensor<768xf32>) -> tensor<512x768xui8> {
  %p = dlc.constant dense<117> : tensor<i32>
  %q = dlc.constant dense<3> : tensor<i32>
  %y = dlc.matmul %x, %w a_zero_point %p b_zero_point %q transpose_b : (tensor<512x768xui8>, tensor<768x768xui8>, tensor<i32>, tensor<i32>) -> tensor<512x768xi32>
  %f = dlc.cast %y to f32 : (tensor<512x768xi32>) -> tensor<512x768xf32>
  %g = dlc.mul %f, %s : (tensor<512x768xf32>, tensor<768xf32>) -> tensor<512x768xf32>
  %r = dlc.relu %g : (tensor<512x768xf32>) -> tensor<512x768xf32>
  %o = dlc.round %r : (tensor<512x768xf32>) -> tensor<512x768xf32>
  %low = dlc.constant dense<0.0> : tensor<f32>
  %high = dlc.constant dense<255.0> : tensor<f32>
  %e = dlc.max %o, %low : (tensor<512x768xf32>, tensor<f32>) -> tensor<512x768xf32>
  %h = dlc.min %e, %high : (tensor<512x768xf32>, tensor<f32>) -> tensor<512x768xf32>
  %z = dlc.cast %h to ui8 : (tensor<512x768xf32>) -> tensor<512x768xui8>
  return %z : tensor<512x768xui8>
}

// -----

// No zero point.
// CHECK: dk::mma_bytes<true, true>(c, a, b)
// CHECK-LABEL: k0_cast(
// CHECK-NOT: zero_a
// CHECK: dk::tensor_tiles<{{.*}}_parameters>::multiply(total
func.func @main(%x: tensor<512x768xi8>, %w: tensor<768x768xi8>, %s: tensor<768xf32>) -> tensor<512x768xui8> {
  %y = dlc.matmul %x, %w transpose_b : (tensor<512x768xi8>, tensor<768x768xi8>) -> tensor<512x768xi32>
  %f = dlc.cast %y to f32 : (tensor<512x768xi32>) -> tensor<512x768xf32>
  %g = dlc.mul %f, %s : (tensor<512x768xf32>, tensor<768xf32>) -> tensor<512x768xf32>
  %r = dlc.relu %g : (tensor<512x768xf32>) -> tensor<512x768xf32>
  %o = dlc.round %r : (tensor<512x768xf32>) -> tensor<512x768xf32>
  %low = dlc.constant dense<0.0> : tensor<f32>
  %high = dlc.constant dense<255.0> : tensor<f32>
  %e = dlc.max %o, %low : (tensor<512x768xf32>, tensor<f32>) -> tensor<512x768xf32>
  %h = dlc.min %e, %high : (tensor<512x768xf32>, tensor<f32>) -> tensor<512x768xf32>
  %z = dlc.cast %h to ui8 : (tensor<512x768xf32>) -> tensor<512x768xui8>
  return %z : tensor<512x768xui8>
}

// -----

// A contracted dimension that is not a multiple of a vector is read element by element.
// CHECK: dk::mma_bytes<false, true>(c, a, b)
// CHECK-LABEL: k0_cast(
// CHECK-NOT: copy_async
// CHECK: dk::tensor_tiles<{{.*}}_parameters>::multiply(total
func.func @main(%x: tensor<200x77xui8>, %w: tensor<50x77xi8>, %s: tensor<50xf32>) -> tensor<200x50xui8> {
  %p = dlc.constant dense<117> : tensor<i32>
  %y = dlc.matmul %x, %w a_zero_point %p transpose_b : (tensor<200x77xui8>, tensor<50x77xi8>, tensor<i32>) -> tensor<200x50xi32>
  %f = dlc.cast %y to f32 : (tensor<200x50xi32>) -> tensor<200x50xf32>
  %g = dlc.mul %f, %s : (tensor<200x50xf32>, tensor<50xf32>) -> tensor<200x50xf32>
  %r = dlc.relu %g : (tensor<200x50xf32>) -> tensor<200x50xf32>
  %o = dlc.round %r : (tensor<200x50xf32>) -> tensor<200x50xf32>
  %low = dlc.constant dense<0.0> : tensor<f32>
  %high = dlc.constant dense<255.0> : tensor<f32>
  %e = dlc.max %o, %low : (tensor<200x50xf32>, tensor<f32>) -> tensor<200x50xf32>
  %h = dlc.min %e, %high : (tensor<200x50xf32>, tensor<f32>) -> tensor<200x50xf32>
  %z = dlc.cast %h to ui8 : (tensor<200x50xf32>) -> tensor<200x50xui8>
  return %z : tensor<200x50xui8>
}

// -----

// Column-major weights are transposed in shared memory: adjacent threads read adjacent elements.
// CHECK: dk::mma_bytes<true, false>(c, a, b)
// CHECK-LABEL: k0_cast(
// CHECK: dk::copy_async<16>(&tile_a
// CHECK: x{{[0-9]+}}.e[l{{[0-9]+}}] = in1[
// CHECK: dk::tensor_tiles<{{.*}}_parameters>::multiply(total
func.func @main(%x: tensor<256x256xi8>, %w: tensor<256x192xui8>, %s: tensor<192xf32>) -> tensor<256x192xui8> {
  %q = dlc.constant dense<5> : tensor<i32>
  %y = dlc.matmul %x, %w b_zero_point %q : (tensor<256x256xi8>, tensor<256x192xui8>, tensor<i32>) -> tensor<256x192xi32>
  %f = dlc.cast %y to f32 : (tensor<256x192xi32>) -> tensor<256x192xf32>
  %g = dlc.mul %f, %s : (tensor<256x192xf32>, tensor<192xf32>) -> tensor<256x192xf32>
  %r = dlc.relu %g : (tensor<256x192xf32>) -> tensor<256x192xf32>
  %o = dlc.round %r : (tensor<256x192xf32>) -> tensor<256x192xf32>
  %low = dlc.constant dense<0.0> : tensor<f32>
  %high = dlc.constant dense<255.0> : tensor<f32>
  %e = dlc.max %o, %low : (tensor<256x192xf32>, tensor<f32>) -> tensor<256x192xf32>
  %h = dlc.min %e, %high : (tensor<256x192xf32>, tensor<f32>) -> tensor<256x192xf32>
  %z = dlc.cast %h to ui8 : (tensor<256x192xf32>) -> tensor<256x192xui8>
  return %z : tensor<256x192xui8>
}

// -----

// Padding of a plain image has the value of its zero point.
// CHECK: dk::mma_bytes<true, false>(c, a, b)
// CHECK-LABEL: k0_mul(
// CHECK: dk::vec<unsigned char, 4> x{{[0-9]+}} = dk::filled<unsigned char, 4>(zero_b);
// CHECK: dk::tensor_tiles<{{.*}}_parameters>::multiply(total
func.func @main(%x: tensor<8x64x56x56xui8>, %w: tensor<128x64x3x3xi8>, %s: tensor<128x1x1xf32>) -> tensor<8x128x56x56xf32> {
  %0 = dlc.fusion(%u = %x, %v = %w, %t = %s) : (tensor<8x64x56x56xui8>, tensor<128x64x3x3xi8>, tensor<128x1x1xf32>) -> tensor<8x128x56x56xf32> {
    %p = dlc.constant dense<117> : tensor<i32>
    %y = dlc.conv %u, %v x_zero_point %p {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<8x64x56x56xui8>, tensor<128x64x3x3xi8>, tensor<i32>) -> tensor<8x128x56x56xi32>
    %f = dlc.cast %y to f32 : (tensor<8x128x56x56xi32>) -> tensor<8x128x56x56xf32>
    %g = dlc.mul %f, %t : (tensor<8x128x56x56xf32>, tensor<128x1x1xf32>) -> tensor<8x128x56x56xf32>
    dlc.yield %g : tensor<8x128x56x56xf32>
  }
  return %0 : tensor<8x128x56x56xf32>
}

// -----

// A channels-last image is copied in vectors of channels.
// CHECK: dk::mma_bytes<false, true>(c, a, b)
// CHECK-LABEL: k0_transpose(
// CHECK: dk::copy_async<16>(&tile_a
// CHECK: else dk::store<16>(&tile_a{{.*}}, dk::filled<unsigned char, 16>(zero_a));
// CHECK: dk::copy_async<16>(&tile_b
// CHECK: dk::tensor_tiles<{{.*}}_parameters>::multiply(total
// CHECK: dk::store<4>(out0
func.func @main(%x: tensor<8x56x56x64xui8>, %w: tensor<128x3x3x64xi8>, %s: tensor<128x1x1xf32>) -> tensor<8x56x56x128xf32> {
  %0 = dlc.fusion(%u = %x, %v = %w, %t = %s) : (tensor<8x56x56x64xui8>, tensor<128x3x3x64xi8>, tensor<128x1x1xf32>) -> tensor<8x56x56x128xf32> {
    %m = dlc.transpose %u [0, 3, 1, 2] : (tensor<8x56x56x64xui8>) -> tensor<8x64x56x56xui8>
    %n = dlc.transpose %v [0, 3, 1, 2] : (tensor<128x3x3x64xi8>) -> tensor<128x64x3x3xi8>
    %p = dlc.constant dense<117> : tensor<i32>
    %y = dlc.conv %m, %n x_zero_point %p {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<8x64x56x56xui8>, tensor<128x64x3x3xi8>, tensor<i32>) -> tensor<8x128x56x56xi32>
    %f = dlc.cast %y to f32 : (tensor<8x128x56x56xi32>) -> tensor<8x128x56x56xf32>
    %g = dlc.mul %f, %t : (tensor<8x128x56x56xf32>, tensor<128x1x1xf32>) -> tensor<8x128x56x56xf32>
    %l = dlc.transpose %g [0, 2, 3, 1] : (tensor<8x128x56x56xf32>) -> tensor<8x56x56x128xf32>
    dlc.yield %l : tensor<8x56x56x128xf32>
  }
  return %0 : tensor<8x56x56x128xf32>
}

// -----

// With few channels, vectors are shorter.
// CHECK-LABEL: k0_transpose(
// CHECK: dk::copy_async<8>(&tile_b
func.func @main(%x: tensor<1x14x14x24xui8>, %w: tensor<48x3x3x24xi8>, %s: tensor<48x1x1xf32>) -> tensor<1x14x14x48xf32> {
  %0 = dlc.fusion(%u = %x, %v = %w, %t = %s) : (tensor<1x14x14x24xui8>, tensor<48x3x3x24xi8>, tensor<48x1x1xf32>) -> tensor<1x14x14x48xf32> {
    %m = dlc.transpose %u [0, 3, 1, 2] : (tensor<1x14x14x24xui8>) -> tensor<1x24x14x14xui8>
    %n = dlc.transpose %v [0, 3, 1, 2] : (tensor<48x3x3x24xi8>) -> tensor<48x24x3x3xi8>
    %p = dlc.constant dense<117> : tensor<i32>
    %y = dlc.conv %m, %n x_zero_point %p {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x14x14xui8>, tensor<48x24x3x3xi8>, tensor<i32>) -> tensor<1x48x14x14xi32>
    %f = dlc.cast %y to f32 : (tensor<1x48x14x14xi32>) -> tensor<1x48x14x14xf32>
    %g = dlc.mul %f, %t : (tensor<1x48x14x14xf32>, tensor<48x1x1xf32>) -> tensor<1x48x14x14xf32>
    %l = dlc.transpose %g [0, 2, 3, 1] : (tensor<1x48x14x14xf32>) -> tensor<1x14x14x48xf32>
    dlc.yield %l : tensor<1x14x14x48xf32>
  }
  return %0 : tensor<1x14x14x48xf32>
}
