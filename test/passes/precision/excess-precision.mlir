// RUN: dlc-opt %s -dlc-excess-precision | FileCheck %s
// RUN: dlc-opt %s "-dlc-excess-precision=accuracy=strict" | FileCheck %s --check-prefix=STRICT
// With strict accuracy each result is rounded.
// STRICT-NOT: excess_precision

// A chain: kernels compute all values except the stored result in f32.
// CHECK-LABEL: @chain
// CHECK: dlc.mul %{{.*}} {dlc.excess_precision}
// CHECK: dlc.relu %{{.*}} {dlc.excess_precision}
// CHECK: dlc.add %{{[^{]*}} : (
func.func @chain(%x: tensor<8xf16>, %y: tensor<8xf16>) -> tensor<8xf16> {
  %0 = dlc.mul %x, %y : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  %1 = dlc.relu %0 : (tensor<8xf16>) -> tensor<8xf16>
  %2 = dlc.add %1, %y : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  return %2 : tensor<8xf16>
}

// Operations that observe the rounding read rounded values, also through operations that move
// elements. f32 and integers are not rounded.
// CHECK-LABEL: @observers
// CHECK-NOT: excess_precision
func.func @observers(%x: tensor<8xbf16>, %y: tensor<8xbf16>, %z: tensor<8xf32>)
    -> (tensor<8xi1>, tensor<8xbf16>, tensor<8xi32>, tensor<8xbf16>, tensor<8xf32>, tensor<2xi64>, tensor<8xf32>) {
  %0 = dlc.mul %x, %y : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xbf16>
  %1 = dlc.compare lt %0, %y : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xi1>
  %2 = dlc.sub %x, %y : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xbf16>
  %3 = dlc.floor %2 : (tensor<8xbf16>) -> tensor<8xbf16>
  %4 = dlc.exp %x : (tensor<8xbf16>) -> tensor<8xbf16>
  %5 = dlc.cast %4 to i32 : (tensor<8xbf16>) -> tensor<8xi32>
  %6 = dlc.tanh %x : (tensor<8xbf16>) -> tensor<8xbf16>
  %7 = dlc.rem %6, %y : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xbf16>
  %8 = dlc.sigmoid %x : (tensor<8xbf16>) -> tensor<8xbf16>
  %9 = dlc.cast %8 to f32 : (tensor<8xbf16>) -> tensor<8xf32>
  %10 = dlc.div %x, %y : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xbf16>
  %11 = dlc.reshape %10 : (tensor<8xbf16>) -> tensor<2x4xbf16>
  %12 = dlc.arg_reduce max %11 axis 1 : (tensor<2x4xbf16>) -> tensor<2xi64>
  %13 = dlc.mul %z, %z : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %14 = dlc.add %13, %z : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %1, %3, %5, %7, %9, %12, %14 : tensor<8xi1>, tensor<8xbf16>, tensor<8xi32>, tensor<8xbf16>, tensor<8xf32>, tensor<2xi64>, tensor<8xf32>
}

// The largest element is one of the value's elements: both readers see the rounded value.
// CHECK-LABEL: @largest
// CHECK: dlc.mul %{{[^{]*}} : (
// CHECK: dlc.reduce max %{{.*}} {dlc.excess_precision}
func.func @largest(%x: tensor<2x8xf16>, %y: tensor<2x8xf16>) -> tensor<2x8xf16> {
  %0 = dlc.mul %x, %y : (tensor<2x8xf16>, tensor<2x8xf16>) -> tensor<2x8xf16>
  %1 = dlc.reduce max %0 axes [1] keepdims : (tensor<2x8xf16>) -> tensor<2x1xf16>
  %2 = dlc.sub %0, %1 : (tensor<2x8xf16>, tensor<2x1xf16>) -> tensor<2x8xf16>
  return %2 : tensor<2x8xf16>
}

// A mean is not one of the elements, nor is a sigmoid; and the readers of a leaky ReLU have a common user.
// CHECK-LABEL: @several
// CHECK-COUNT-3: dlc.mul %{{.*}} {dlc.excess_precision}
// CHECK: dlc.sigmoid %{{.*}} {dlc.excess_precision}
// CHECK: dlc.mul %{{[^{]*}} : (
// CHECK-COUNT-2: dlc.mul %{{.*}} {dlc.excess_precision}
// CHECK: dlc.max %{{[^{]*}} : (
func.func @several(%x: tensor<2x8xf16>, %y: tensor<2x8xf16>)
    -> (tensor<2x8xf16>, tensor<2x8xf16>, tensor<2x8xf16>) {
  %c = dlc.constant dense<0.25> : tensor<f16>
  %0 = dlc.mul %x, %y : (tensor<2x8xf16>, tensor<2x8xf16>) -> tensor<2x8xf16>
  %1 = dlc.mul %0, %c : (tensor<2x8xf16>, tensor<f16>) -> tensor<2x8xf16>
  %2 = dlc.mul %1, %y : (tensor<2x8xf16>, tensor<2x8xf16>) -> tensor<2x8xf16>
  %3 = dlc.sigmoid %2 : (tensor<2x8xf16>) -> tensor<2x8xf16>
  %4 = dlc.mul %2, %3 : (tensor<2x8xf16>, tensor<2x8xf16>) -> tensor<2x8xf16>
  %5 = dlc.mul %x, %x : (tensor<2x8xf16>, tensor<2x8xf16>) -> tensor<2x8xf16>
  %6 = dlc.mul %5, %c : (tensor<2x8xf16>, tensor<f16>) -> tensor<2x8xf16>
  %7 = dlc.max %5, %6 : (tensor<2x8xf16>, tensor<2x8xf16>) -> tensor<2x8xf16>
  return %4, %7, %y : tensor<2x8xf16>, tensor<2x8xf16>, tensor<2x8xf16>
}

// Operations after a matmul read its f32 sums, also through a cast. A matmul named strict, one
// that is compared and one that is stored are rounded.
// CHECK-LABEL: @products
// CHECK: dlc.matmul %{{[^:]*}} {dlc.excess_precision}
// CHECK: dlc.matmul %{{[^:]*}} {dlc.excess_precision}
// CHECK: dlc.matmul %{{[^:]*}} {dlc.accuracy = "strict"} :
// CHECK: dlc.matmul %{{[^{:]*}} :
// CHECK: dlc.matmul %{{[^{:]*}} :
func.func @products(%x: tensor<8x8xbf16>)
    -> (tensor<8x8xbf16>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xi1>, tensor<8x8xbf16>) {
  %0 = dlc.matmul %x, %x : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %1 = dlc.relu %0 : (tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %2 = dlc.matmul %x, %1 : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %3 = dlc.cast %2 to f32 : (tensor<8x8xbf16>) -> tensor<8x8xf32>
  %4 = dlc.matmul %1, %1 {dlc.accuracy = "strict"} : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %5 = dlc.cast %4 to f32 : (tensor<8x8xbf16>) -> tensor<8x8xf32>
  %6 = dlc.matmul %1, %x : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %7 = dlc.compare gt %6, %x : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xi1>
  %8 = dlc.matmul %x, %x transpose_a : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
  return %1, %3, %5, %7, %8 : tensor<8x8xbf16>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xi1>, tensor<8x8xbf16>
}
