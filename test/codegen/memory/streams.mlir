// RUN: dlc-opt %s -split-input-file -dlc-plan-memory -dlc-verify-memory -verify-diagnostics | FileCheck %s

// Buffers whose uses are ordered by an event may share memory; others may not.
// CHECK-LABEL: exec.program @reuse
// CHECK-SAME: arena 0 arenas {"cpu:1" = 12288 : i64}
exec.program @reuse inputs [] outputs [] streams ["cpu:1", "cpu:1"] {
  // CHECK: %[[A:.*]] = exec.alloc at 0
  %a = exec.alloc : !exec.buffer<4096 on "cpu:1">
  // CHECK: exec.alloc at 4096
  %b = exec.alloc : !exec.buffer<4096 on "cpu:1">
  // Concurrent with both, since this stream does not wait for the first one.
  // CHECK: exec.alloc at 8192
  %c = exec.alloc : !exec.buffer<4096 on "cpu:1">
  // After the event, when the first one is finished.
  // CHECK: exec.alloc at 0
  %d = exec.alloc : !exec.buffer<4096 on "cpu:1">
  exec.fill %a with 0 : !exec.buffer<4096 on "cpu:1">
  exec.copy %a to %b bytes 4096 : !exec.buffer<4096 on "cpu:1">, !exec.buffer<4096 on "cpu:1">
  exec.record 0
  exec.fill %c with 1 {stream = 1 : i64} : !exec.buffer<4096 on "cpu:1">
  exec.wait 0 {stream = 1 : i64}
  exec.copy %b to %d bytes 4096 {stream = 1 : i64} : !exec.buffer<4096 on "cpu:1">, !exec.buffer<4096 on "cpu:1">
  exec.copy %c to %d bytes 4096 {stream = 1 : i64} : !exec.buffer<4096 on "cpu:1">, !exec.buffer<4096 on "cpu:1">
}

// -----

// A result does not reuse a buffer that another stream may still read.
exec.kernel @k {
}
// CHECK-LABEL: exec.program @inplace
// CHECK-SAME: arenas {"cpu:1" = 12288 : i64}
exec.program @inplace inputs [] outputs [] streams ["cpu:1", "cpu:1"] {
  %a = exec.alloc : !exec.buffer<4096 on "cpu:1">
  %b = exec.alloc : !exec.buffer<4096 on "cpu:1">
  %c = exec.alloc : !exec.buffer<4096 on "cpu:1">
  exec.fill %a with 0 : !exec.buffer<4096 on "cpu:1">
  exec.record 0
  exec.wait 0 {stream = 1 : i64}
  exec.launch @k(%a, %b) writes [1] inplace [1, 0] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<4096 on "cpu:1">, !exec.buffer<4096 on "cpu:1">
  exec.copy %a to %c bytes 4096 {stream = 1 : i64} : !exec.buffer<4096 on "cpu:1">, !exec.buffer<4096 on "cpu:1">
}

// -----

// Each device has its own arena.
// CHECK-LABEL: exec.program @arenas
// CHECK-SAME: arena 64 arenas {"cpu:1" = 128 : i64, "cpu:2" = 64 : i64}
exec.program @arenas inputs [] outputs [] streams ["cpu", "cpu:1", "cpu:2"] {
  %a = exec.alloc : !exec.buffer<64>
  %b = exec.alloc : !exec.buffer<128 on "cpu:1">
  %c = exec.alloc : !exec.buffer<1 on "cpu:2">
  exec.fill %a with 0 : !exec.buffer<64>
  exec.fill %b with 0 {stream = 1 : i64} : !exec.buffer<128 on "cpu:1">
  exec.fill %c with 0 {stream = 2 : i64} : !exec.buffer<1 on "cpu:2">
}

// -----

exec.program @race inputs [] outputs [] streams ["cpu:1", "cpu:1"] {
  %a = exec.alloc : !exec.buffer<64 on "cpu:1">
  %b = exec.alloc : !exec.buffer<64 on "cpu:1">
  // expected-note @below {{the other command}}
  exec.fill %a with 0 : !exec.buffer<64 on "cpu:1">
  // expected-error @below {{accesses byte 0 of the arena of cpu:1 on stream 1 while stream 0 may still access it: no event orders the two commands}}
  exec.copy %a to %b bytes 64 {stream = 1 : i64} : !exec.buffer<64 on "cpu:1">, !exec.buffer<64 on "cpu:1">
}

// -----

exec.program @output inputs [] outputs [{name = "y", type = tensor<64xi8>}] streams ["cpu", "cpu"] {
  %y = exec.output 0 : !exec.buffer<64>
  %part = exec.view %y at 32 : !exec.buffer<64> -> !exec.buffer<32>
  // expected-note @below {{the other command}}
  exec.fill %part with 0 : !exec.buffer<32>
  // expected-error @below {{accesses byte 32 of output 0 on stream 1}}
  exec.fill %y with 1 {stream = 1 : i64} : !exec.buffer<64>
}

// -----

// Overwritten too early: the command does not wait for the reader.
exec.program @late inputs [] outputs [] states [{name = "s", type = tensor<64xi8>}] streams ["cpu", "cpu"] {
  %old = exec.state 0 : !exec.buffer<64>
  %new = exec.state 0 new : !exec.buffer<64>
  %a = exec.alloc : !exec.buffer<64>
  // expected-note @below {{the other command}}
  exec.copy %old to %a bytes 64 : !exec.buffer<64>, !exec.buffer<64>
  // expected-error @below {{accesses byte 0 of state 0 on stream 1}}
  exec.fill %new with 1 {stream = 1 : i64} : !exec.buffer<64>
}
