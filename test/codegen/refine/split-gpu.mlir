// On a GPU, too, splitting the epilogue of a matmul into a separate kernel is a candidate: libraries multiply several times as fast as
// generated code and do not support the epilogue.
// RUN: %emulated-gpu env DLC_CUDA_CUBLASLT=%build/lib/libdlc_emulated_gpu.so dlc compile %s --device cuda:0 --gpu-arch sm_90 --cache none --to refine --print-after refine 2>&1 | FileCheck %s
// RUN: %emulated-gpu dlc compile %s --device cuda:0 --gpu-arch sm_90 --cache none --to refine --print-after refine 2>&1 | FileCheck %s --check-prefix=ALONE
// REQUIRES: dlc, emulated-gpu

// CHECK-LABEL: func.func @main
// CHECK: %[[P:.*]] = dlc.fusion{{.*}}dlc.kernel = "cublaslt"
// CHECK-NEXT: dlc.matmul
// CHECK-NEXT: dlc.add
// CHECK-NEXT: dlc.yield
// CHECK: dlc.fusion({{.*}} = %[[P]]{{.*}}dlc.kernel = "cuda"
// CHECK-NOT: dlc.matmul
// CHECK: dlc.gelu
// ALONE-LABEL: func.func @main
// ALONE: dlc.fusion{{.*}}dlc.kernel = "cuda"
// ALONE: dlc.matmul
// ALONE-NOT: dlc.yield
// ALONE: dlc.gelu
// ALONE-NOT: dlc.fusion
func.func @main(%x: tensor<16384x4096xbf16>, %w: tensor<4096x4096xbf16>, %b: tensor<4096xbf16>) -> tensor<16384x4096xbf16> {
  %0 = dlc.matmul %x, %w : (tensor<16384x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<16384x4096xbf16>
  %1 = dlc.add %0, %b : (tensor<16384x4096xbf16>, tensor<4096xbf16>) -> tensor<16384x4096xbf16>
  %2 = dlc.gelu %1 : (tensor<16384x4096xbf16>) -> tensor<16384x4096xbf16>
  return %2 : tensor<16384x4096xbf16>
}
