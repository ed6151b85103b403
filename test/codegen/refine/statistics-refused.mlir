// A kernel that computes more from a convolution's result than the statistics of batch normalisation is not changed, and reads
// that result: the maximum of each channel, a sum with another tensor, sums instead of means, differences from another element, or the
// differences themselves. The last case computes only the statistics, but with a convolution kernel that does not support them.
// RUN: dlc compile %s --cache none --kernels winograd --from select --to refine | FileCheck %s
// REQUIRES: dlc

!x = tensor<4x16x17x15xf32, #dlc.on<cpu, acdb>>
!w = tensor<32x16x3x3xf32, #dlc.on<cpu>>
!y = tensor<4x32x17x15xf32, #dlc.on<cpu, acdb>>
!c = tensor<1x32x1x1xf32, #dlc.on<cpu>>
// CHECK-COUNT-5: -> tensor<4x32x17x15xf32{{[^>]*>}}> attributes {{.*}} dlc.kernel = "winograd"
// CHECK: %[[Y:.*]]:4 = dlc.fusion{{.*}} dlc.kernel = "winograd"
// CHECK: dlc.reduce {{ *}}mean
// CHECK: dlc.fusion({{.*}} = %[[Y]]#0) : (tensor<4x32x17x15xf32
// CHECK: dlc.reduce {{ *}}max
// CHECK: return {{.*}}, %[[Y]]#2, %[[Y]]#3
func.func @main(%x: !x, %w: !w, %z: !y) -> (!c, !c, !c, !c, !c, !c, !c, !c, !c, !c, !c, !y, !c, !c, !c) {
  %y0 = dlc.fusion(%a = %x, %b = %w) : (!x, !w) -> !y {
    %c = dlc.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (!x, !w) -> !y
    dlc.yield %c : !y
  }
  %r0:3 = dlc.fusion(%a = %y0) : (!y) -> (!c, !c, !c) {
    %k = dlc.slice %a start [0, 0, 0, 0] size [1, 32, 1, 1] stride [1, 1, 1, 1] : (!y) -> !c
    %d = dlc.sub %a, %k : (!y, !c) -> !y
    %m = dlc.reduce mean %d axes [0, 2, 3] keepdims : (!y) -> !c
    %q = dlc.mul %d, %d : (!y, !y) -> !y
    %s = dlc.reduce mean %q axes [0, 2, 3] keepdims : (!y) -> !c
    %more = dlc.reduce max %a axes [0, 2, 3] keepdims : (!y) -> !c
    dlc.yield %m, %s, %more : !c, !c, !c
  }
  %y1 = dlc.fusion(%a = %x, %b = %w) : (!x, !w) -> !y {
    %c = dlc.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (!x, !w) -> !y
    dlc.yield %c : !y
  }
  %r1:3 = dlc.fusion(%a = %y1, %other = %z) : (!y, !y) -> (!c, !c, !c) {
    %k = dlc.slice %a start [0, 0, 0, 0] size [1, 32, 1, 1] stride [1, 1, 1, 1] : (!y) -> !c
    %d = dlc.sub %a, %k : (!y, !c) -> !y
    %m = dlc.reduce mean %d axes [0, 2, 3] keepdims : (!y) -> !c
    %q = dlc.mul %d, %d : (!y, !y) -> !y
    %s = dlc.reduce mean %q axes [0, 2, 3] keepdims : (!y) -> !c
    %t = dlc.mul %other, %other : (!y, !y) -> !y
    %more = dlc.reduce mean %t axes [0, 2, 3] keepdims : (!y) -> !c
    dlc.yield %m, %s, %more : !c, !c, !c
  }
  %y2 = dlc.fusion(%a = %x, %b = %w) : (!x, !w) -> !y {
    %c = dlc.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (!x, !w) -> !y
    dlc.yield %c : !y
  }
  %r2:2 = dlc.fusion(%a = %y2) : (!y) -> (!c, !c) {
    %k = dlc.slice %a start [0, 0, 0, 0] size [1, 32, 1, 1] stride [1, 1, 1, 1] : (!y) -> !c
    %d = dlc.sub %a, %k : (!y, !c) -> !y
    %m = dlc.reduce sum %d axes [0, 2, 3] keepdims : (!y) -> !c
    %q = dlc.mul %d, %d : (!y, !y) -> !y
    %s = dlc.reduce sum %q axes [0, 2, 3] keepdims : (!y) -> !c
    dlc.yield %m, %s : !c, !c
  }
  %y3 = dlc.fusion(%a = %x, %b = %w) : (!x, !w) -> !y {
    %c = dlc.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (!x, !w) -> !y
    dlc.yield %c : !y
  }
  %r3:2 = dlc.fusion(%a = %y3) : (!y) -> (!c, !c) {
    %k = dlc.slice %a start [0, 0, 1, 0] size [1, 32, 1, 1] stride [1, 1, 1, 1] : (!y) -> !c
    %d = dlc.sub %a, %k : (!y, !c) -> !y
    %m = dlc.reduce mean %d axes [0, 2, 3] keepdims : (!y) -> !c
    %q = dlc.mul %d, %d : (!y, !y) -> !y
    %s = dlc.reduce mean %q axes [0, 2, 3] keepdims : (!y) -> !c
    dlc.yield %m, %s : !c, !c
  }
  %y4 = dlc.fusion(%a = %x, %b = %w) : (!x, !w) -> !y {
    %c = dlc.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (!x, !w) -> !y
    dlc.yield %c : !y
  }
  %r4:3 = dlc.fusion(%a = %y4) : (!y) -> (!y, !c, !c) {
    %k = dlc.slice %a start [0, 0, 0, 0] size [1, 32, 1, 1] stride [1, 1, 1, 1] : (!y) -> !c
    %d = dlc.sub %a, %k : (!y, !c) -> !y
    %m = dlc.reduce mean %d axes [0, 2, 3] keepdims : (!y) -> !c
    %q = dlc.mul %d, %d : (!y, !y) -> !y
    %s = dlc.reduce mean %q axes [0, 2, 3] keepdims : (!y) -> !c
    dlc.yield %d, %m, %s : !y, !c, !c
  }
  %y5 = dlc.fusion(%a = %x, %b = %w) : (!x, !w) -> !y {
    %c = dlc.conv %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64} : (!x, !w) -> !y
    dlc.yield %c : !y
  }
  %r5:2 = dlc.fusion(%a = %y5) : (!y) -> (!c, !c) {
    %k = dlc.slice %a start [0, 0, 0, 0] size [1, 32, 1, 1] stride [1, 1, 1, 1] : (!y) -> !c
    %d = dlc.sub %a, %k : (!y, !c) -> !y
    %m = dlc.reduce mean %d axes [0, 2, 3] keepdims : (!y) -> !c
    %q = dlc.mul %d, %d : (!y, !y) -> !y
    %s = dlc.reduce mean %q axes [0, 2, 3] keepdims : (!y) -> !c
    dlc.yield %m, %s : !c, !c
  }
  %r6 = dlc.fusion(%a = %y5) : (!y) -> !c {
    %more = dlc.reduce max %a axes [0, 2, 3] keepdims : (!y) -> !c
    dlc.yield %more : !c
  }
  return %r0#0, %r0#1, %r0#2, %r1#0, %r1#1, %r1#2, %r2#0, %r2#1, %r3#0, %r3#1, %r4#1, %r4#0, %r6, %r5#0, %r5#1 : !c, !c, !c, !c, !c, !c, !c, !c, !c, !c, !c, !y, !c, !c, !c
}
