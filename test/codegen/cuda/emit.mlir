// RUN: cuda-text %s | FileCheck %s
// RUN: cuda-text --for sm_90a %s | FileCheck %s --check-prefix FOUR

// Adjacent elements are loaded and stored as vectors of 16 bytes. A result that is stored in place of an operand must not be __restrict__.
// CHECK-LABEL: k0_add(const float *in0, const float *in1, float *out0)
// CHECK: dk::vec<float, 4> [[Y:y[0-9]+]];
// CHECK: const auto [[X:x[0-9]+]] = dk::load<4>(in0 + [[I:r[0-9]+]] * 4);
// CHECK: #pragma unroll
// CHECK: dk::store<4>(out0 + [[I]] * 4, [[Y]]);
// CHECK: launch k0_add grid 63 1 1 block 256 1 1 shared 0 arguments in0 in1 out0
// CHECK: out0 may be in0
// CHECK: out0 may be in1
func.func @main(%x: tensor<64x1000xf32>, %y: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  %z = dlc.add %x, %y : (tensor<64x1000xf32>, tensor<64x1000xf32>) -> tensor<64x1000xf32>
  return %z : tensor<64x1000xf32>
}

// -----

// A value that all elements of a vector share is loaded once, before the loop over lanes; 16-bit floats are computed in f32.
// CHECK-LABEL: k0_relu(
// CHECK: dk::load<8>(in0 +
// CHECK-NEXT: const float {{.*}} = dk::load(in1[(([[I:r[0-9]+]] / 98) % 64)]);
// CHECK-NEXT: #pragma unroll
// CHECK: dk::store<8>(out0 + [[I]] * 8
func.func @main(%x: tensor<8x64x28x28xbf16>, %b: tensor<64x1x1xbf16>) -> tensor<8x64x28x28xbf16> {
  %y = dlc.add %x, %b : (tensor<8x64x28x28xbf16>, tensor<64x1x1xbf16>) -> tensor<8x64x28x28xbf16>
  %z = dlc.relu %y : (tensor<8x64x28x28xbf16>) -> tensor<8x64x28x28xbf16>
  return %z : tensor<8x64x28x28xbf16>
}

// -----

// The remainder of a flat array that does not fill a vector is computed element by element.
// CHECK-LABEL: k0_exp(
// CHECK: dk::load<4>
// CHECK: if (blockIdx.x == 0 && threadIdx.x < 3)
// CHECK: dk::load(in0[[[E:e[0-9]+]] + 70000])
func.func @main(%x: tensor<70003xf32>) -> tensor<70003xf32> {
  %y = dlc.exp %x : (tensor<70003xf32>) -> tensor<70003xf32>
  return %y : tensor<70003xf32>
}

// -----

// A warp processes a row of 1024 elements, which is read once into registers; maximum and sum are reduced by shuffles.
// CHECK-LABEL: k0_mul(
// CHECK: float [[KEPT:kept[0-9]+]][32];
// CHECK-COUNT-1: dk::load<4>(in0
// CHECK: dk::warp_reduce<dk::largest, 32>
// CHECK-NOT: (in0
// CHECK: dk::warp_reduce<dk::sum, 32>
// CHECK-NOT: (in0
// CHECK: dk::store<4>(out0
// CHECK: launch k0_mul grid 512
// CHECK-NOT: launch
func.func @main(%x: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  %y = dlc.softmax %x {axis = 1 : i64} : (tensor<512x1024xf32>) -> tensor<512x1024xf32>
  return %y : tensor<512x1024xf32>
}

// -----

// A block processes a longer row.
// CHECK-LABEL: __launch_bounds__(256) k0_mul(
// CHECK: __shared__ float [[S:shared[0-9]+]][8];
// CHECK: dk::block_reduce<dk::largest, 256>({{.*}}, [[S]])
func.func @main(%x: tensor<512x4096xf32>) -> tensor<512x4096xf32> {
  %y = dlc.softmax %x {axis = 1 : i64} : (tensor<512x4096xf32>) -> tensor<512x4096xf32>
  return %y : tensor<512x4096xf32>
}

// -----

// Several rows that are shorter than a warp share a warp: threads beyond the last row process it again and store nothing.
// CHECK-LABEL: k0_mul(
// CHECK: const int [[WANTED:v[0-9]+]] = {{.*}} + (int)threadIdx.x / 8;
// CHECK: const int row{{.*}} = [[WANTED]] < 1001 ? [[WANTED]] : 1000;
// CHECK: dk::warp_reduce<dk::largest, 8>
// CHECK: if ([[WANTED]] < 1001)
// CHECK: dk::store<4>(out0
func.func @main(%x: tensor<1001x32xf32>) -> tensor<1001x32xf32> {
  %y = dlc.softmax %x {axis = 1 : i64} : (tensor<1001x32xf32>) -> tensor<1001x32xf32>
  return %y : tensor<1001x32xf32>
}

// -----

// A sum over a batch: threads along the columns, partial sums in scratch memory, and a second kernel that adds them in order.
// CHECK-LABEL: k0_reduce(const float *__restrict__ in0, float *__restrict__ tmp0)
// CHECK: = blockIdx.y * 64;
// CHECK: r{{[0-9]+}} += 8
// CHECK-NEXT: dk::load<4>(in0
// CHECK-NOT: atomic
// CHECK: tmp0[
// CHECK-LABEL: k0_reduce_1(float *__restrict__ out0, const float *__restrict__ tmp0)
// CHECK: #pragma unroll 8
// CHECK: r{{[0-9]+}} < 16
// CHECK: launch k0_reduce grid 4 16 1 block 32 8 1
// CHECK: launch k0_reduce_1 grid 2 1 1
// CHECK-NOT: // launch
func.func @main(%x: tensor<1024x512xf32>) -> tensor<512xf32> {
  %y = dlc.reduce sum %x axes [0] : (tensor<1024x512xf32>) -> tensor<512xf32>
  return %y : tensor<512xf32>
}

// -----

// Many partial sums are added by several threads per column.
// CHECK-LABEL: k0_reduce(const float *__restrict__ in0, float *__restrict__ tmp0)
// CHECK: dk::careful<float>
// CHECK: #pragma unroll 4
// CHECK-NEXT: for (int r
// CHECK-LABEL: k0_reduce_1(float *__restrict__ out0, const float *__restrict__ tmp0)
// CHECK: for (int part = threadIdx.y; part < 64; part += 8)
// CHECK: launch k0_reduce grid 4 64 1 block 32 8 1
// CHECK: launch k0_reduce_1 grid 16 1 1 block 32 8 1
// CHECK-NOT: // launch
func.func @main(%x: tensor<4096x512xf32>) -> tensor<512xf32> {
  %y = dlc.reduce sum %x axes [0] : (tensor<4096x512xf32>) -> tensor<512xf32>
  return %y : tensor<512xf32>
}

// -----

// A mean of all elements.
// CHECK-LABEL: k0_reduce(
// CHECK: dk::load<4>(in0
// CHECK: dk::block_reduce<dk::sum, 256>
// CHECK-LABEL: k0_reduce_1(
// CHECK: / 1000000.0f
func.func @main(%x: tensor<1000000xf32>) -> tensor<f32> {
  %y = dlc.reduce mean %x axes [0] : (tensor<1000000xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// On tensor cores: tiles and a ring buffer of stages with asynchronous copies, one barrier per step; sums are staged in shared memory,
// and stored in vectors, with the bias.
// CHECK: constexpr index depth = 64;
// CHECK: constexpr bool depth_first_a = true;
// CHECK: constexpr bool depth_first_b = false;
// CHECK: dk::mma_bf16(c, a, b)
// CHECK-LABEL: __launch_bounds__(256, 2) k0_add(
// CHECK: extern __shared__ __align__(1024) unsigned char memory[];
// CHECK: float total[4][4][4] = {};
// CHECK: dk::copy_async<16>(&tile_a[p *
// CHECK: dk::copies_commit();
// CHECK: dk::copies_wait<1>();
// CHECK-NEXT: __syncthreads();
// CHECK: dk::copy_async<16>(&tile_a[into *
// CHECK: dk::tensor_tiles<k0_add_parameters>::multiply(total, tile_a + stage * {{[0-9]+}}, tile_b + stage * {{[0-9]+}}, warp_row, warp_column, lane);
// CHECK: dk::put_sums<
// CHECK: dk::load<8>(in2 +
// CHECK: dk::store<8>(out0
// CHECK: launch k0_add grid 256 1 1 block 256 1 1 shared 98304
// With warpgroup instructions (wgmma), operands are read directly from shared memory.
// FOUR: __launch_bounds__(256, {{[12]}}) k0_add(
// FOUR: dk::shared_writes_done();
// FOUR-NEXT: __syncthreads();
// FOUR: dk::tensor_tiles<k0_add_parameters>::multiply_by_warpgroup(total, tile_a + stage *
// FOUR: dk::copy_async<16>(&tile_a[into *
// FOUR: dk::products_wait<1>();
// FOUR: dk::products_settle(total);
func.func @main(%a: tensor<2048x256xbf16>, %b: tensor<256x2048xbf16>, %c: tensor<2048xbf16>) -> tensor<2048x2048xbf16> {
  %y = dlc.matmul %a, %b : (tensor<2048x256xbf16>, tensor<256x2048xbf16>) -> tensor<2048x2048xbf16>
  %z = dlc.add %y, %c : (tensor<2048x2048xbf16>, tensor<2048xbf16>) -> tensor<2048x2048xbf16>
  return %z : tensor<2048x2048xbf16>
}

// -----

// Without permission to round, f32 is multiplied as f32.
// CHECK-LABEL: k0_matmul(
// CHECK-NOT: mma
// CHECK: dk::multiply_plain_tiles<
func.func @main(%a: tensor<512x256xf32>, %b: tensor<256x1024xf32>) -> tensor<512x1024xf32> {
  %y = dlc.matmul %a, %b : (tensor<512x256xf32>, tensor<256x1024xf32>) -> tensor<512x1024xf32>
  return %y : tensor<512x1024xf32>
}

// -----

// A matmul with few tiles is split along the contracted dimension (split-K).
// CHECK-LABEL: k0_matmul(
// CHECK: blockIdx.y *
// CHECK: dk::store<4>(tmp0 +
// CHECK-LABEL: k0_matmul_1(
// CHECK: dk::load(tmp0[
func.func @main(%a: tensor<64x8192xbf16>, %b: tensor<8192x64xbf16>) -> tensor<64x64xbf16> {
  %y = dlc.matmul %a, %b : (tensor<64x8192xbf16>, tensor<8192x64xbf16>) -> tensor<64x64xbf16>
  return %y : tensor<64x64xbf16>
}

// -----

// A convolution reads weights in vectors, and windows directly from the image.
// CHECK-LABEL: k0_conv(
// CHECK: dk::copy_async<16>(&tile_a[
// CHECK-SAME: in1
// CHECK: >= 0 && {{.*}} < 14
// CHECK: dk::store<4>(&tile_b[
// CHECK: dk::tensor_tiles<
func.func @main(%x: tensor<2x32x14x14xbf16>, %w: tensor<64x32x3x3xbf16>) -> tensor<2x64x14x14xbf16> {
  %y = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x32x14x14xbf16>, tensor<64x32x3x3xbf16>) -> tensor<2x64x14x14xbf16>
  return %y : tensor<2x64x14x14xbf16>
}

// -----

// A convolution of few channels reads each line of its windows once, in vectors, and without bounds checks if the window is inside.
// CHECK-LABEL: k0_conv(
// CHECK: float total[32] = {};
// CHECK: float line{{[0-9]+}}[10];
// CHECK: const bool [[IN:v[0-9]+]] = [[AT:v[0-9]+]] >= 0 && [[AT]] < 56;
// CHECK: dk::load<8>(in0 + {{.*}} + 56);
// CHECK: total[0] += line{{[0-9]+}}[0] * w{{[0-9]+}}[6];
// CHECK: dk::store<8>(out0 +
func.func @main(%x: tensor<32x96x56x56xbf16>, %w: tensor<96x1x3x3xbf16>) -> tensor<32x96x56x56xbf16> {
  %y = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 96 : i64} : (tensor<32x96x56x56xbf16>, tensor<96x1x3x3xbf16>) -> tensor<32x96x56x56xbf16>
  return %y : tensor<32x96x56x56xbf16>
}

// -----

// Small images whose lines are not multiples of a vector are staged in shared memory, several at a time.
// CHECK-LABEL: k0_conv(
// CHECK: __shared__ __align__(16) dk::bf16 [[IMAGE:image[0-9]+]][6664];
// CHECK: dk::load<8>(in0 + block{{[0-9]+}} * 6664 + r
// CHECK: __syncthreads();
// CHECK: dk::load([[IMAGE]][
// CHECK: __syncthreads();
// CHECK: dk::store<8>(out0 + block{{[0-9]+}} * 6664 + r
// CHECK: launch k0_conv grid 452 1 1 block 136 1 1
func.func @main(%x: tensor<64x960x7x7xbf16>, %w: tensor<960x1x3x3xbf16>) -> tensor<64x960x7x7xbf16> {
  %y = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 960 : i64} : (tensor<64x960x7x7xbf16>, tensor<960x1x3x3xbf16>) -> tensor<64x960x7x7xbf16>
  return %y : tensor<64x960x7x7xbf16>
}

// -----

// A pool's gradient reads each window's position once for all elements of the window.
// CHECK-LABEL: k0_avg_pool_grad(
// CHECK: float total[
// CHECK: dk::average(
// CHECK-NOT: dk::average(
// CHECK: total[0] += line
func.func @main(%dy: tensor<64x32x1x16xf32>) -> tensor<64x32x2x32xf32> {
  %dx = dlc.avg_pool_grad %dy {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, counted_high = array<i64: 0, 0>, spatial = array<i64: 2, 32>} : (tensor<64x32x1x16xf32>) -> tensor<64x32x2x32xf32>
  return %dx : tensor<64x32x2x32xf32>
}

// -----

// Rows of a table: the index is read once per vector. A scatter sorts its updates by index.
// CHECK-LABEL: k0_gather(
// CHECK: dk::load(in1[
// CHECK: for (int l
// CHECK: (int)dk::place(
// CHECK: dk::store<4>(out0
// CHECK: #include "scatter.cuh"
// CHECK-LABEL: k1_scatter_nd(const float *in0, float *out0)
// CHECK: dk::scatter_copy<k1_scatter_nd_parameters>::run(in0, out0);
// CHECK-LABEL: k1_scatter_nd_2(
// CHECK: dk::scatter_order_few<k1_scatter_nd_2_parameters>::run(tmp0, tmp1, tmp2);
// CHECK: struct k1_scatter_nd_3_parameters {
// CHECK: constexpr index count = 256;
// CHECK: typedef dk::sum combine;
// CHECK: constexpr index width = 4;
// CHECK-LABEL: k1_scatter_nd_3(
// CHECK: dk::scatter_combine<k1_scatter_nd_3_parameters>::run(in2, tmp2, tmp1, out0);
// CHECK: out0 may be in0
func.func @main(%x: tensor<1000x64xf32>, %i: tensor<256xi64>, %u: tensor<256x64xf32>) -> (tensor<256x64xf32>, tensor<1000x64xf32>) {
  %y = dlc.gather 0 %x, %i : (tensor<1000x64xf32>, tensor<256xi64>) -> tensor<256x64xf32>
  %j = dlc.reshape %i : (tensor<256xi64>) -> tensor<256x1xi64>
  %z = dlc.scatter_nd add %x, %j, %u : (tensor<1000x64xf32>, tensor<256x1xi64>, tensor<256x64xf32>) -> tensor<1000x64xf32>
  return %y, %z : tensor<256x64xf32>, tensor<1000x64xf32>
}
