// RUN: dlc-opt %s -split-input-file -dlc-verify-memory -verify-diagnostics

exec.kernel @k {
}
exec.program @overwritten inputs [] outputs [] arena 128 {
  %in = exec.input 0 : !exec.buffer<64>
  %out = exec.output 0 : !exec.buffer<64>
  %a = exec.alloc at 0 : !exec.buffer<64>
  // expected-note @below {{overwritten by this command}}
  %b = exec.alloc at 32 : !exec.buffer<64>
  exec.launch @k(%in, %a) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>
  exec.launch @k(%in, %b) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>
  // expected-error @below {{invalid memory plan (a bug of dlc unless the module was edited): reads byte 32 of the arena, but another live buffer has overwritten it}}
  exec.launch @k(%a, %out) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>
}

// -----

exec.kernel @k {
}
exec.program @unwritten inputs [] outputs [] arena 64 {
  %out = exec.output 0 : !exec.buffer<64>
  %a = exec.alloc at 0 : !exec.buffer<64>
  // expected-error @below {{invalid memory plan (a bug of dlc unless the module was edited): reads byte 0 of the arena, which no command has written}}
  exec.launch @k(%a, %out) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>
}

// -----

exec.kernel @k {
}
exec.program @overlap inputs [] outputs [] arena 64 {
  %in = exec.input 0 : !exec.buffer<64>
  %a = exec.alloc at 0 : !exec.buffer<64>
  %b = exec.alloc at 0 : !exec.buffer<64>
  exec.launch @k(%in, %a) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>
  // expected-error @below {{invalid memory plan (a bug of dlc unless the module was edited): buffers 1 and 0 overlap, which the command does not allow}}
  exec.launch @k(%a, %b) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>
}

// -----

exec.kernel @k {
}
exec.program @outside inputs [] outputs [] arena 64 {
  %in = exec.input 0 : !exec.buffer<128>
  %a = exec.alloc at 0 : !exec.buffer<128>
  // expected-error @below {{invalid memory plan (a bug of dlc unless the module was edited): writes bytes 0 to 128 of an arena of 64}}
  exec.launch @k(%in, %a) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<128>, !exec.buffer<128>
}

// -----

exec.kernel @k {
}
exec.program @room_of_another inputs [] outputs [] arena 8192 {
  %in = exec.input 0 : !exec.buffer<64>
  %out = exec.output 0 : !exec.buffer<64>
  %a = exec.alloc at 64 : !exec.buffer<64>
  exec.launch @k(%in, %a) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>
  exec.library "x"(%in, %out) writes [1] inplace [] flops 0.0 bytes 0.0 desc "{}" {room = array<i64: 0, 4096>} : !exec.buffer<64>, !exec.buffer<64>
  // expected-error @below {{invalid memory plan (a bug of dlc unless the module was edited): reads byte 64 of the arena, which no command has written}}
  exec.launch @k(%a, %out) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>
}

// -----

exec.program @room_of_an_operand inputs [] outputs [] arena 8192 {
  %in = exec.input 0 : !exec.buffer<64>
  %a = exec.alloc at 64 : !exec.buffer<64>
  // expected-error @below {{invalid memory plan (a bug of dlc unless the module was edited): its scratch range overlaps buffer 1}}
  exec.library "x"(%in, %a) writes [1] inplace [] flops 0.0 bytes 0.0 desc "{}" {room = array<i64: 0, 4096>} : !exec.buffer<64>, !exec.buffer<64>
}

// -----

exec.program @room_outside inputs [] outputs [] arena 2048 {
  %in = exec.input 0 : !exec.buffer<64>
  %out = exec.output 0 : !exec.buffer<64>
  // expected-error @below {{invalid memory plan (a bug of dlc unless the module was edited): its scratch range, bytes 0 to 4096, exceeds the arena of 2048}}
  exec.library "x"(%in, %out) writes [1] inplace [] flops 0.0 bytes 0.0 desc "{}" {room = array<i64: 0, 4096>} : !exec.buffer<64>, !exec.buffer<64>
}

// -----

// Concurrent loops may read the same bytes, but neither may write bytes that the other one accesses.
exec.kernel @k {
}
exec.program @concurrent inputs [] outputs [] arena 128 {
  %n = exec.input 0 : !exec.buffer<8>
  %in = exec.input 1 : !exec.buffer<64>
  %a = exec.alloc at 0 : !exec.buffer<64>
  %b = exec.alloc at 32 : !exec.buffer<64>
  exec.loop trip %n : !exec.buffer<8> {
    // expected-note @below {{the other command}}
    exec.launch @k(%in, %a) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>
  }
  exec.loop trip %n : !exec.buffer<8> concurrent {
    // expected-error @below {{memory: accesses byte 32 of the arena of cpu, which a concurrent loop accesses, too}}
    exec.launch @k(%in, %b) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>
  }
}
