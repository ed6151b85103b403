// RUN: dlc-opt %s -dlc-fuse | FileCheck %s

// A convolution of 8-bit integers reads its operand through views, and its zero point outside of the fusion.
// CHECK-LABEL: @viewed
// CHECK: %[[R:.*]] = dlc.transposed_view %arg0 [0, 3, 1, 2]
// CHECK: dlc.fusion({{.*}} = %[[R]]
// CHECK: dlc.conv {{.*}} x_zero_point %{{.*}} {
// CHECK-NEXT: dlc.cast %{{.*}} to f32
// CHECK-NEXT: dlc.yield
func.func @viewed(%x: tensor<1x8x8x16xui8, #dlc.on<cpu>>, %z: tensor<i32, #dlc.on<cpu>>, %w: tensor<4x16x3x3xi8, #dlc.on<cpu>>)
    -> tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>> {
  %0 = dlc.transposed_view %x [0, 3, 1, 2]
      : (tensor<1x8x8x16xui8, #dlc.on<cpu>>) -> tensor<1x16x8x8xui8, #dlc.on<cpu, acdb>>
  %1 = dlc.conv %0, %w x_zero_point %z {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64}
      : (tensor<1x16x8x8xui8, #dlc.on<cpu, acdb>>, tensor<4x16x3x3xi8, #dlc.on<cpu>>, tensor<i32, #dlc.on<cpu>>)
      -> tensor<1x4x6x6xi32, #dlc.on<cpu, acdb>>
  %y = dlc.cast %1 to f32 : (tensor<1x4x6x6xi32, #dlc.on<cpu, acdb>>) -> tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>
  return %y : tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>
}

// Views that libraries can express by strides are fused with a matmul. The merged heads of an attention are not.
// CHECK-LABEL: @heads
// CHECK: dlc.transpose %{{.*}} [0, 2, 1, 3] : (tensor<1x4x8x16xui8, #dlc.on<cpu>>)
// CHECK: %[[R:.*]] = dlc.reshape %{{.*}} -> tensor<8x64xui8, #dlc.on<cpu>>
// CHECK: dlc.fusion({{.*}} = %[[R]]
// CHECK: dlc.matmul {{.*}} a_zero_point
// CHECK: dlc.fusion({{.*}} : (tensor<1x4x8x16xui8, {{.*}} -> tensor<1x4x16x32xi32
// CHECK: dlc.transpose {{.*}}ui8
// CHECK: dlc.matmul
func.func @heads(%x: tensor<1x4x8x16xui8, #dlc.on<cpu>>, %z: tensor<i32, #dlc.on<cpu>>, %w: tensor<64x32xi8, #dlc.on<cpu>>, %v: tensor<8x32xi8, #dlc.on<cpu>>)
    -> (tensor<8x32xi32, #dlc.on<cpu>>, tensor<1x4x16x32xi32, #dlc.on<cpu>>) {
  %2 = dlc.transpose %x [0, 2, 1, 3] : (tensor<1x4x8x16xui8, #dlc.on<cpu>>) -> tensor<1x8x4x16xui8, #dlc.on<cpu>>
  %3 = dlc.reshape %2 : (tensor<1x8x4x16xui8, #dlc.on<cpu>>) -> tensor<8x64xui8, #dlc.on<cpu>>
  %y = dlc.matmul %3, %w a_zero_point %z
      : (tensor<8x64xui8, #dlc.on<cpu>>, tensor<64x32xi8, #dlc.on<cpu>>, tensor<i32, #dlc.on<cpu>>) -> tensor<8x32xi32, #dlc.on<cpu>>
  %4 = dlc.transpose %x [0, 1, 3, 2] : (tensor<1x4x8x16xui8, #dlc.on<cpu>>) -> tensor<1x4x16x8xui8, #dlc.on<cpu>>
  %t = dlc.matmul %4, %v : (tensor<1x4x16x8xui8, #dlc.on<cpu>>, tensor<8x32xi8, #dlc.on<cpu>>) -> tensor<1x4x16x32xi32, #dlc.on<cpu>>
  return %y, %t : tensor<8x32xi32, #dlc.on<cpu>>, tensor<1x4x16x32xi32, #dlc.on<cpu>>
}

// A fusion that rounds to 8 bits ends there if the result is combined with another tensor, else it continues.
// CHECK-LABEL: @gated
// CHECK: dlc.fusion({{.*}} -> tensor<1x4x6x6xui8, #dlc.on<cpu, acdb>>
// CHECK: dlc.conv
// CHECK: dlc.cast %{{.*}} to ui8
// CHECK-NEXT: dlc.yield
// CHECK: dlc.fusion({{.*}} -> tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>
// CHECK: dlc.cast %{{.*}} to f32
// CHECK: dlc.mul
// CHECK: dlc.yield
// CHECK: dlc.fusion({{.*}} -> tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>
// CHECK: dlc.conv
// CHECK: dlc.cast %{{.*}} to ui8
// CHECK-NEXT: dlc.cast %{{.*}} to f32
// CHECK-NEXT: dlc.yield
func.func @gated(%x: tensor<1x16x8x8xui8, #dlc.on<cpu, acdb>>, %w: tensor<4x16x3x3xi8, #dlc.on<cpu>>, %v: tensor<4x16x3x3xi8, #dlc.on<cpu>>, %g: tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>) -> (tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>, tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>) {
  %most = dlc.constant dense<2.55e+02> : tensor<f32, #dlc.on<cpu>>
  %1 = dlc.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x16x8x8xui8, #dlc.on<cpu, acdb>>, tensor<4x16x3x3xi8, #dlc.on<cpu>>) -> tensor<1x4x6x6xi32, #dlc.on<cpu, acdb>>
  %2 = dlc.cast %1 to f32 : (tensor<1x4x6x6xi32, #dlc.on<cpu, acdb>>) -> tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>
  %3 = dlc.round %2 : (tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>) -> tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>
  %4 = dlc.relu %3 : (tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>) -> tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>
  %5 = dlc.min %4, %most : (tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>, tensor<f32, #dlc.on<cpu>>) -> tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>
  %6 = dlc.cast %5 to ui8 : (tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>) -> tensor<1x4x6x6xui8, #dlc.on<cpu, acdb>>
  %7 = dlc.cast %6 to f32 : (tensor<1x4x6x6xui8, #dlc.on<cpu, acdb>>) -> tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>
  %8 = dlc.mul %7, %g : (tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>, tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>) -> tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>
  %9 = dlc.conv %x, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x16x8x8xui8, #dlc.on<cpu, acdb>>, tensor<4x16x3x3xi8, #dlc.on<cpu>>) -> tensor<1x4x6x6xi32, #dlc.on<cpu, acdb>>
  %10 = dlc.cast %9 to f32 : (tensor<1x4x6x6xi32, #dlc.on<cpu, acdb>>) -> tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>
  %11 = dlc.round %10 : (tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>) -> tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>
  %12 = dlc.relu %11 : (tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>) -> tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>
  %13 = dlc.min %12, %most : (tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>, tensor<f32, #dlc.on<cpu>>) -> tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>
  %14 = dlc.cast %13 to ui8 : (tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>) -> tensor<1x4x6x6xui8, #dlc.on<cpu, acdb>>
  %15 = dlc.cast %14 to f32 : (tensor<1x4x6x6xui8, #dlc.on<cpu, acdb>>) -> tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>
  return %8, %15 : tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>, tensor<1x4x6x6xf32, #dlc.on<cpu, acdb>>
}
