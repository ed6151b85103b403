// RUN: dlc-opt %s | dlc-opt | FileCheck %s

// CHECK: exec.program @two inputs [] outputs [] streams ["cpu", "cuda:0"] arena 64 arenas {"cuda:0" = 128 : i64} {
exec.program @two inputs [] outputs [] streams ["cpu", "cuda:0"] arena 64 arenas {"cuda:0" = 128 : i64} {
  // CHECK: exec.alloc at 0 : <64>
  %a = exec.alloc at 0 : !exec.buffer<64 on "cpu">
  // CHECK: exec.alloc at 64 : <64 on "cuda:0">
  %b = exec.alloc at 64 : !exec.buffer<64 on "cuda:0">
  // CHECK: exec.fill %{{.*}} with 0 : <64>
  exec.fill %a with 0 {stream = 0 : i64} : !exec.buffer<64>
  // CHECK: exec.record 3{{$}}
  exec.record 3
  // CHECK: exec.wait 3 {stream = 1 : i64}
  exec.wait 3 {stream = 1 : i64}
  // CHECK: exec.copy %{{.*}} to %{{.*}} bytes 64 {stream = 1 : i64} : <64>, <64 on "cuda:0">
  exec.copy %a to %b bytes 64 {stream = 1 : i64} : !exec.buffer<64>, !exec.buffer<64 on "cuda:0">
}

// An event may be any number.
// CHECK: exec.program @any
exec.program @any inputs [] outputs [] streams ["cpu", "cpu:1"] arena 0 {
  // CHECK: exec.record 9223372036854775807
  exec.record 9223372036854775807
  // CHECK: exec.wait 9223372036854775807
  exec.wait 9223372036854775807 {stream = 1 : i64}
  // CHECK: exec.record -9223372036854775808
  exec.record -9223372036854775808
}
