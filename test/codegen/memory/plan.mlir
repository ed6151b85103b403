// RUN: dlc-opt %s -split-input-file -dlc-plan-memory -dlc-verify-memory | FileCheck %s

// A buffer reuses the memory of another one whose last reader has run.
exec.kernel @k {
}
// CHECK-LABEL: exec.program @reuse
// CHECK-SAME: arena 8192
exec.program @reuse inputs [] outputs [] {
  %in = exec.input 0 : !exec.buffer<4096>
  %out = exec.output 0 : !exec.buffer<4096>
  // CHECK: exec.alloc at 0
  %a = exec.alloc : !exec.buffer<4096>
  // CHECK: exec.alloc at 4096
  %b = exec.alloc : !exec.buffer<4096>
  // CHECK: exec.alloc at 0
  %c = exec.alloc : !exec.buffer<4096>
  exec.launch @k(%in, %a) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<4096>, !exec.buffer<4096>
  exec.launch @k(%a, %b) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<4096>, !exec.buffer<4096>
  exec.launch @k(%b, %c) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<4096>, !exec.buffer<4096>
  exec.launch @k(%c, %out) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<4096>, !exec.buffer<4096>
}

// -----

// A result reuses the buffer of an operand that is last read by the same command.
exec.kernel @k {
}
// CHECK-LABEL: exec.program @inplace
// CHECK-SAME: arena 4096
exec.program @inplace inputs [] outputs [] {
  %in = exec.input 0 : !exec.buffer<4096>
  %out = exec.output 0 : !exec.buffer<4096>
  %a = exec.alloc : !exec.buffer<4096>
  %b = exec.alloc : !exec.buffer<4096>
  exec.launch @k(%in, %a) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<4096>, !exec.buffer<4096>
  exec.launch @k(%a, %b) writes [1] inplace [1, 0] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<4096>, !exec.buffer<4096>
  exec.launch @k(%b, %out) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<4096>, !exec.buffer<4096>
}

// -----

// A value from outside that a loop reads is live during all iterations.
exec.kernel @k {
}
// CHECK-LABEL: exec.program @loop
// CHECK-SAME: arena 192
exec.program @loop inputs [] outputs [] {
  %in = exec.input 0 : !exec.buffer<64>
  %trip = exec.input 1 : !exec.buffer<8>
  %out = exec.output 0 : !exec.buffer<64>
  %a = exec.alloc : !exec.buffer<64>
  exec.launch @k(%in, %a) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>
  exec.loop trip %trip : !exec.buffer<8> {
    %b = exec.alloc : !exec.buffer<64>
    %c = exec.alloc : !exec.buffer<64>
    exec.launch @k(%a, %b) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>
    exec.launch @k(%b, %c) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>
    exec.copy %c to %out bytes 64 : !exec.buffer<64>, !exec.buffer<64>
  }
}

// -----

// Not in place if another operand is a part of that buffer.
exec.kernel @k {
}
// CHECK-LABEL: exec.program @part
// CHECK-SAME: arena 256
exec.program @part inputs [] outputs [] {
  %in = exec.input 0 : !exec.buffer<64>
  %out = exec.output 0 : !exec.buffer<128>
  %whole = exec.alloc : !exec.buffer<128>
  %first = exec.view %whole at 0 : !exec.buffer<128> -> !exec.buffer<64>
  %second = exec.view %whole at 64 : !exec.buffer<128> -> !exec.buffer<64>
  %product = exec.alloc : !exec.buffer<128>
  exec.launch @k(%in, %first) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>
  exec.launch @k(%in, %second) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>
  exec.launch @k(%whole, %second, %product) writes [2] inplace [2, 0] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<128>, !exec.buffer<64>, !exec.buffer<128>
  exec.launch @k(%product, %out) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<128>, !exec.buffer<128>
}

// -----

// A library call may use unused ranges of the arena as scratch memory.
exec.kernel @k {
}
// CHECK-LABEL: exec.program @room
// CHECK-SAME: arena 20480
exec.program @room inputs [] outputs [] {
  %in = exec.input 0 : !exec.buffer<4096>
  %first = exec.output 0 : !exec.buffer<4096>
  %second = exec.output 1 : !exec.buffer<4096>
  %large = exec.alloc : !exec.buffer<16384>
  %small = exec.alloc : !exec.buffer<4096>
  exec.launch @k(%in, %large) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<4096>, !exec.buffer<16384>
  // CHECK: exec.library "x"(%{{.*}}, %{{.*}}) writes [1] inplace [] {{.*}} {room = array<i64: 16384, 4096>}
  exec.library "x"(%in, %first) writes [1] inplace [] flops 0.0 bytes 0.0 desc "{}" : !exec.buffer<4096>, !exec.buffer<4096>
  // CHECK: exec.library "x"({{.*}}) writes [1] inplace []
  // CHECK-NOT: room
  // CHECK-SAME: : !exec.buffer<16384>, !exec.buffer<4096>
  exec.library "x"(%large, %small) writes [1] inplace [] flops 0.0 bytes 0.0 desc "{}" : !exec.buffer<16384>, !exec.buffer<4096>
  // CHECK: exec.library "x"({{.*}}) writes [1] inplace [] {{.*}} {room = array<i64: 0, 16384>}
  exec.library "x"(%small, %second) writes [1] inplace [] flops 0.0 bytes 0.0 desc "{}" : !exec.buffer<4096>, !exec.buffer<4096>
}

// -----

// Ranges that a loop needs in its next iteration are not used as scratch memory, and concurrent streams do not share any.
exec.kernel @k {
}
// CHECK-LABEL: exec.program @room_in_loop
exec.program @room_in_loop inputs [] outputs [] {
  %in = exec.input 0 : !exec.buffer<4096>
  %trip = exec.input 1 : !exec.buffer<8>
  %out = exec.output 0 : !exec.buffer<4096>
  %again = exec.alloc : !exec.buffer<8192>
  exec.launch @k(%in, %again) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<4096>, !exec.buffer<8192>
  exec.loop trip %trip : !exec.buffer<8> {
    %inner = exec.alloc : !exec.buffer<4096>
    exec.launch @k(%again, %inner) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<8192>, !exec.buffer<4096>
    exec.copy %inner to %out bytes 4096 : !exec.buffer<4096>, !exec.buffer<4096>
    // CHECK: exec.library {{.*}} {room = array<i64: 8192, 4096>}
    exec.library "x"(%in, %out) writes [1] inplace [] flops 0.0 bytes 0.0 desc "{}" : !exec.buffer<4096>, !exec.buffer<4096>
  }
}

// -----

// Buffers that different concurrent loops use do not share memory, not even if one is read for the last time before the other one is written.
exec.kernel @k {
}
// CHECK-LABEL: exec.program @concurrent
// CHECK-SAME: arena 12288
exec.program @concurrent inputs [] outputs [] {
  %n = exec.input 0 : !exec.buffer<8>
  %in = exec.input 1 : !exec.buffer<4096>
  %out = exec.output 0 : !exec.buffer<4096>
  %other = exec.output 1 : !exec.buffer<4096>
  // CHECK: exec.alloc at [[#A:]]
  %a = exec.alloc : !exec.buffer<4096>
  // CHECK: exec.alloc at [[#B:]]
  %b = exec.alloc : !exec.buffer<4096>
  // CHECK: exec.alloc at [[#C:]]
  %c = exec.alloc : !exec.buffer<4096>
  exec.launch @k(%in, %a) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<4096>, !exec.buffer<4096>
  // CHECK: exec.loop
  exec.loop trip %n : !exec.buffer<8> {
    exec.launch @k(%a, %b) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<4096>, !exec.buffer<4096>
    exec.launch @k(%b, %out) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<4096>, !exec.buffer<4096>
  }
  // CHECK: exec.loop
  // CHECK-SAME: concurrent
  exec.loop trip %n : !exec.buffer<8> concurrent {
    exec.launch @k(%in, %c) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<4096>, !exec.buffer<4096>
    exec.launch @k(%c, %other) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<4096>, !exec.buffer<4096>
  }
}
