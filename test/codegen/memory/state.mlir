// RUN: dlc-opt %s -split-input-file -dlc-plan-memory -dlc-verify-memory -verify-diagnostics | FileCheck %s

// State is not in the arena, and a value may be stored in place of its operand.
exec.kernel @k {
}
// CHECK-LABEL: exec.program @inplace
// CHECK-SAME: states [
// CHECK-SAME: arena 0
exec.program @inplace inputs [] outputs [] states [{name = "a", type = tensor<16xf32>}] {
  %in = exec.input 0 : !exec.buffer<64>
  %old = exec.state 0 : !exec.buffer<64>
  // CHECK: exec.state 0 new
  %new = exec.state 0 new : !exec.buffer<64>
  exec.launch @k(%old, %in, %new) writes [2] inplace [2, 0] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>, !exec.buffer<64>
}

// -----

// Several results of a command reuse the buffers of several operands that are last read by it.
exec.kernel @k {
}
// CHECK-LABEL: exec.program @several
// CHECK-SAME: arena 128
exec.program @several inputs [] outputs [] {
  %in = exec.input 0 : !exec.buffer<64>
  %out = exec.output 0 : !exec.buffer<64>
  %a = exec.alloc : !exec.buffer<64>
  %b = exec.alloc : !exec.buffer<64>
  %c = exec.alloc : !exec.buffer<64>
  %d = exec.alloc : !exec.buffer<64>
  exec.launch @k(%in, %a, %b) writes [1, 2] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>, !exec.buffer<64>
  exec.launch @k(%a, %b, %c, %d) writes [2, 3] inplace [2, 0, 2, 1, 3, 0, 3, 1] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>, !exec.buffer<64>, !exec.buffer<64>
  exec.launch @k(%c, %d, %out) writes [2] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>, !exec.buffer<64>
}

// -----

exec.kernel @k {
}
exec.program @late inputs [] outputs [] states [{name = "a", type = tensor<16xf32>}] {
  %in = exec.input 0 : !exec.buffer<64>
  %out = exec.output 0 : !exec.buffer<64>
  %old = exec.state 0 : !exec.buffer<64>
  %new = exec.state 0 new : !exec.buffer<64>
  exec.launch @k(%in, %new) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>
  // expected-error @below {{invalid memory plan (a bug of dlc unless the module was edited): reads byte 0 of state 0's old value, which was overwritten}}
  exec.launch @k(%old, %out) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>
}

// -----

exec.kernel @k {
}
exec.program @early inputs [] outputs [] states [{name = "a", type = tensor<16xf32>}] {
  %in = exec.input 0 : !exec.buffer<64>
  %out = exec.output 0 : !exec.buffer<64>
  %new = exec.state 0 new : !exec.buffer<64>
  // expected-error @below {{invalid memory plan (a bug of dlc unless the module was edited): reads byte 0 of state 0's new value, which no command has written yet}}
  exec.launch @k(%new, %out) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>
  exec.launch @k(%in, %new) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>
}

// -----

exec.kernel @k {
}
exec.program @half inputs [] outputs [] states [{name = "a", type = tensor<16xf32>}] {
  %in = exec.input 0 : !exec.buffer<32>
  // expected-error @below {{invalid memory plan (a bug of dlc unless the module was edited): no command has written byte 32 of state 0's new value when the program ends}}
  %new = exec.state 0 new : !exec.buffer<64>
  %part = exec.view %new at 0 : !exec.buffer<64> -> !exec.buffer<32>
  exec.launch @k(%in, %part) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<32>, !exec.buffer<32>
}

// -----

exec.kernel @k {
}
exec.program @notallowed inputs [] outputs [] states [{name = "a", type = tensor<16xf32>}] {
  %old = exec.state 0 : !exec.buffer<64>
  %new = exec.state 0 new : !exec.buffer<64>
  // expected-error @below {{invalid memory plan (a bug of dlc unless the module was edited): buffers 1 and 0 overlap, which the command does not allow}}
  exec.launch @k(%old, %new) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>
}

// -----

exec.kernel @k {
}
exec.program @old inputs [] outputs [] states [{name = "a", type = tensor<16xf32>}] {
  %in = exec.input 0 : !exec.buffer<64>
  %old = exec.state 0 : !exec.buffer<64>
  // expected-error @below {{invalid memory plan (a bug of dlc unless the module was edited): writes the old value of state 0}}
  exec.launch @k(%in, %old) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>
}

// -----

// The second iteration reads a value that the first one has overwritten.
exec.kernel @k {
}
exec.program @loop inputs [] outputs [] states [{name = "a", type = tensor<16xf32>}] {
  %trip = exec.input 0 : !exec.buffer<8>
  %out = exec.output 0 : !exec.buffer<64>
  %old = exec.state 0 : !exec.buffer<64>
  %new = exec.state 0 new : !exec.buffer<64>
  exec.loop trip %trip : !exec.buffer<8> {
    // expected-error @below {{invalid memory plan (a bug of dlc unless the module was edited): reads byte 0 of state 0's old value, which was overwritten}}
    exec.launch @k(%old, %new) writes [1] inplace [1, 0] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>
  }
}

// -----

// Only one branch writes the new value, so that its content is undefined.
exec.kernel @k {
}
exec.program @branch inputs [] outputs [] states [{name = "a", type = tensor<16xf32>}] {
  %c = exec.input 0 : !exec.buffer<1>
  %in = exec.input 1 : !exec.buffer<64>
  // expected-error @below {{invalid memory plan (a bug of dlc unless the module was edited): no command has written byte 0 of state 0's new value when the program ends}}
  %new = exec.state 0 new : !exec.buffer<64>
  %old = exec.state 0 : !exec.buffer<64>
  exec.if %c : !exec.buffer<1> {
    exec.launch @k(%in, %new) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>, !exec.buffer<64>
  } else {
  }
}
