// Kernels that use each file of codegen/cuda/kernels, with typical parameters. The test cuda-nvrtc-kernels compiles them for several architectures.
// RUN: cuda-text --for sm_80 %s | FileCheck %s

// Parts of a line are sorted, then their first elements.
// CHECK: #include "topk.cuh"
// CHECK: constexpr index parts = 2;
// CHECK: constexpr bool first = true;
// CHECK-LABEL: k0_topk(
// CHECK: dk::topk_pass<k0_topk_parameters>::run(in0, nullptr, tmp0, tmp1, memory);
// CHECK: constexpr index length = 14;
// CHECK-LABEL: k0_topk_1(
// CHECK: dk::topk_pass<k0_topk_1_parameters>::run(tmp0, tmp1, out0, out1, memory);
func.func @main(%x: tensor<3x5000x2xf32>) -> (tensor<3x7x2xf32>, tensor<3x7x2xi64>) {
  %y:2 = dlc.topk %x {k = 7 : i64, axis = 1 : i64} : (tensor<3x5000x2xf32>) -> (tensor<3x7x2xf32>, tensor<3x7x2xi64>)
  return %y#0, %y#1 : tensor<3x7x2xf32>, tensor<3x7x2xi64>
}

// -----

// CHECK: dk::topk_by_rank<k0_topk_parameters>::run(in0, out0, out1);
func.func @main(%x: tensor<3x5000xf16>) -> (tensor<3x2000xf16>, tensor<3x2000xi64>) {
  %y:2 = dlc.topk %x {k = 2000 : i64, axis = 1 : i64, largest = false} : (tensor<3x5000xf16>) -> (tensor<3x2000xf16>, tensor<3x2000xi64>)
  return %y#0, %y#1 : tensor<3x2000xf16>, tensor<3x2000xi64>
}

// -----

// CHECK: #include "scan.cuh"
// CHECK: dk::scan_by_block<
// CHECK: dk::scan_by_thread<
func.func @main(%x: tensor<8x5000xbf16>, %z: tensor<8x50xi32>) -> (tensor<8x5000xbf16>, tensor<8x50xi32>) {
  %y = dlc.cumulative sum %x axis 1 exclusive : (tensor<8x5000xbf16>) -> tensor<8x5000xbf16>
  %w = dlc.cumulative prod %z axis 1 reverse : (tensor<8x50xi32>) -> tensor<8x50xi32>
  return %y, %w : tensor<8x5000xbf16>, tensor<8x50xi32>
}

// -----

// CHECK: #include "scatter.cuh"
// CHECK: dk::scatter_copy<
// CHECK: dk::scatter_count<
// CHECK: dk::scatter_order<
// CHECK: dk::scatter_store<
// CHECK: dk::scatter_sort_parts<
// CHECK: dk::scatter_merge_parts<
// CHECK: dk::scatter_combine<
func.func @main(%x: tensor<1000x64xf32>, %i: tensor<1000x1xi64>, %u: tensor<1000x64xf32>, %v: tensor<10000xf16>, %j: tensor<10000xi64>, %w: tensor<10000xf16>) -> (tensor<1000x64xf32>, tensor<10000xf16>) {
  %y = dlc.scatter_nd none %x, %i, %u : (tensor<1000x64xf32>, tensor<1000x1xi64>, tensor<1000x64xf32>) -> tensor<1000x64xf32>
  %z = dlc.scatter_elements add 0 %v, %j, %w : (tensor<10000xf16>, tensor<10000xi64>, tensor<10000xf16>) -> tensor<10000xf16>
  return %y, %z : tensor<1000x64xf32>, tensor<10000xf16>
}

// -----

// CHECK: #include "nms.cuh"
// CHECK: dk::nms_rows<
func.func @main(%b: tensor<2x900x4xf16>, %s: tensor<2x3x900xf16>, %c: tensor<2x3x900xi1>, %o: tensor<f32>) -> (tensor<2x3x50xi64>, tensor<2x3xi64>) {
  %y:2 = dlc.nms %b, %s, %c, %o {k = 50 : i64} : (tensor<2x900x4xf16>, tensor<2x3x900xf16>, tensor<2x3x900xi1>, tensor<f32>) -> (tensor<2x3x50xi64>, tensor<2x3xi64>)
  return %y#0, %y#1 : tensor<2x3x50xi64>, tensor<2x3xi64>
}

// -----

// CHECK: #include "grouped_matmul.cuh"
// CHECK: dk::grouped_matmul<
// CHECK: dk::grouped_weight_grad<
func.func @main(%a: tensor<512x64xbf16>, %b: tensor<4x96x64xbf16>, %e: tensor<4xi32>, %d: tensor<512x96xbf16>) -> (tensor<512x96xbf16>, tensor<4x64x96xbf16>) {
  %y = dlc.grouped_matmul %a, %b ends %e transpose_b : (tensor<512x64xbf16>, tensor<4x96x64xbf16>, tensor<4xi32>) -> tensor<512x96xbf16>
  %z = dlc.grouped_weight_grad %a, %d ends %e : (tensor<512x64xbf16>, tensor<512x96xbf16>, tensor<4xi32>) -> tensor<4x64x96xbf16>
  return %y, %z : tensor<512x96xbf16>, tensor<4x64x96xbf16>
}

// -----

// CHECK: #include "tile_products.cuh"
// CHECK: dk::multiply_plain_tiles<
// CHECK: dk::mma_f16(c, a, b)
// CHECK: dk::tensor_tiles<
func.func @main(%a: tensor<512x256xf32>, %b: tensor<256x512xf32>, %c: tensor<512x256xf16>, %d: tensor<256x512xf16>) -> (tensor<512x512xf32>, tensor<512x512xf16>) {
  %y = dlc.matmul %a, %b : (tensor<512x256xf32>, tensor<256x512xf32>) -> tensor<512x512xf32>
  %z = dlc.matmul %c, %d : (tensor<512x256xf16>, tensor<256x512xf16>) -> tensor<512x512xf16>
  return %y, %z : tensor<512x512xf32>, tensor<512x512xf16>
}

// -----

// A causal mask; the result and the statistics of each row.
// CHECK: #include "attention.cuh"
// CHECK: constexpr bool causal = true;
// CHECK: constexpr bool has_lse = true;
// CHECK-LABEL: k0_attention_train(
// CHECK: const dk::matrix_rows<const dk::bf16, 64, true, true> q = {in0 + 0 + (index)(batch / 1 % 8) * 8192};
// CHECK: auto seen = {{.*}} key < 128 && query < 128 && key <= query;
// CHECK: dk::attention_forward<k0_attention_train_parameters>::run(q, k, v, to_y, out1, seen, bias, memory);
func.func @main(%q: tensor<8x128x64xbf16>, %k: tensor<8x128x64xbf16>, %v: tensor<8x128x64xbf16>) -> (tensor<8x128x64xbf16>, tensor<8x128xf32>) {
  %y:2 = dlc.attention_train %q, %k, %v {scale = 0.125 : f64, causal} : (tensor<8x128x64xbf16>, tensor<8x128x64xbf16>, tensor<8x128x64xbf16>) -> (tensor<8x128x64xbf16>, tensor<8x128xf32>)
  return %y#0, %y#1 : tensor<8x128x64xbf16>, tensor<8x128xf32>
}

// -----

// CHECK: dk::attention_shares<
// CHECK: dk::attention_query_grad<
// CHECK: dk::attention_key_grad<
func.func @main(%q: tensor<8x100x40xf32>, %k: tensor<8x90x40xf32>, %v: tensor<8x90x48xf32>, %y: tensor<8x100x48xf32>, %l: tensor<8x100xf32>, %dy: tensor<8x100x48xf32>, %m: tensor<100x90xi1>) -> (tensor<8x100x40xf32>, tensor<8x90x40xf32>, tensor<8x90x48xf32>) {
  %g:3 = dlc.attention_grad %q, %k, %v, %y, %l, %dy, %m {scale = 0.5 : f64} : (tensor<8x100x40xf32>, tensor<8x90x40xf32>, tensor<8x90x48xf32>, tensor<8x100x48xf32>, tensor<8x100xf32>, tensor<8x100x48xf32>, tensor<100x90xi1>) -> (tensor<8x100x40xf32>, tensor<8x90x40xf32>, tensor<8x90x48xf32>)
  return %g#0, %g#1, %g#2 : tensor<8x100x40xf32>, tensor<8x90x40xf32>, tensor<8x90x48xf32>
}
