// RUN: dlc-opt %s -split-input-file -verify-diagnostics

exec.program @view inputs [] outputs [] {
  %in = exec.input 0 : !exec.buffer<64>
  // expected-error @below {{C1: the part must be inside the buffer; found bytes 32 to 96 of 64}}
  %v = exec.view %in at 32 : !exec.buffer<64> -> !exec.buffer<64>
}

// -----

exec.program @launch inputs [] outputs [] {
  %in = exec.input 0 : !exec.buffer<64>
  // expected-error @below {{C1: positions must be indices of buffers; found 1 of 1}}
  exec.launch @k(%in) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 : !exec.buffer<64>
}

// -----

exec.program @library inputs [] outputs [] {
  %in = exec.input 0 : !exec.buffer<64>
  // expected-error @below {{C1: positions must be indices of buffers; found 2 of 1}}
  exec.library "onednn"(%in) writes [2] inplace [] flops 0.0 bytes 0.0 desc "{}" : !exec.buffer<64>
}

// -----

exec.program @copy inputs [] outputs [] {
  %in = exec.input 0 : !exec.buffer<64>
  %out = exec.output 0 : !exec.buffer<32>
  // expected-error @below {{C1: both buffers must contain the copied bytes; found 64 of 64 and 32}}
  exec.copy %in to %out bytes 64 : !exec.buffer<64>, !exec.buffer<32>
}
