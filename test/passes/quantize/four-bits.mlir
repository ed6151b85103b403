// A 4-bit weight keeps its type in every phase, until a kernel that reads 4 bits is selected and the weights are packed for it.
// RUN: dlc compile %s --cache none --threads 1 -o %t.dlcx --print-after all 2>&1 | FileCheck %s
// RUN: dlc run %s --cache none | FileCheck %s --check-prefix=RESULT
// REQUIRES: dlc, fma

// CHECK: after import
// CHECK: dlc.constant {{.*}}tensor<384x256xui4
// CHECK-NOT: {{(dlc.cast|x256xi8|x256xui8|x256xi32)}}
// CHECK: dlc.dequantize {{.*}}tensor<384x256xui4
// CHECK-NEXT: dlc.matmul
// CHECK: after simplify
// CHECK: dlc.constant {{.*}}tensor<384x256xui4
// CHECK-NOT: {{(dlc.cast|x256xi8|x256xui8|x256xi32)}}
// CHECK: dlc.dequantize {{.*}}tensor<384x256xui4
// CHECK-NEXT: dlc.matmul
// CHECK: after grad
// CHECK: dlc.constant {{.*}}tensor<384x256xui4
// CHECK-NOT: {{(dlc.cast|x256xi8|x256xui8|x256xi32)}}
// CHECK: dlc.dequantize {{.*}}tensor<384x256xui4
// CHECK-NEXT: dlc.matmul
// CHECK: after precision
// CHECK: dlc.constant {{.*}}tensor<384x256xui4
// CHECK-NOT: {{(dlc.cast|x256xi8|x256xui8|x256xi32)}}
// CHECK: dlc.dequantize {{.*}}tensor<384x256xui4
// CHECK-NEXT: dlc.matmul
// CHECK: after place
// CHECK: dlc.constant {{.*}}tensor<384x256xui4
// CHECK-NOT: {{(dlc.cast|x256xi8|x256xui8|x256xi32)}}
// CHECK: dlc.dequantize {{.*}}tensor<384x256xui4
// CHECK-NEXT: dlc.matmul
// CHECK: after layout
// CHECK: dlc.constant {{.*}}tensor<384x256xui4
// CHECK-NOT: {{(dlc.cast|x256xi8|x256xui8|x256xi32)}}
// CHECK: dlc.dequantize {{.*}}tensor<384x256xui4
// CHECK-NEXT: dlc.matmul
// CHECK: after fuse
// CHECK: dlc.constant {{.*}}tensor<384x256xui4
// CHECK-NOT: {{(dlc.cast|x256xi8|x256xui8|x256xi32)}}
// CHECK: dlc.dequantize {{.*}}tensor<384x256xui4
// CHECK-NEXT: dlc.matmul

// CHECK: after select
// CHECK: dlc.fusion{{.*}}dlc.kernel = "blocks"
// CHECK: dlc.dequantize {{.*}}tensor<384x256xui4
// CHECK: after lower
// CHECK: exec.constant {{.*}}layout "blocks:256x384x32:4"
// CHECK: exec.library "blocks"{{.*}}\22bits\22:4

// RESULT: f32 1x384

func.func @main(%x: tensor<1x256xf32>) -> tensor<1x384xf32> {
  %w = dlc.constant dense<9> : tensor<384x256xui4>
  %s = dlc.constant dense<0.5> : tensor<384x8xf32>
  %z = dlc.constant dense<7> : tensor<384x8xui4>
  %d = dlc.dequantize %w, %s, %z axis 1 block_size 32 : (tensor<384x256xui4>, tensor<384x8xf32>, tensor<384x8xui4>) -> tensor<384x256xf32>
  %y = dlc.matmul %x, %d transpose_b : (tensor<1x256xf32>, tensor<384x256xf32>) -> tensor<1x384xf32>
  return %y : tensor<1x384xf32>
}
