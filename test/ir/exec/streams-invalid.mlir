// RUN: dlc-opt %s -split-input-file -verify-diagnostics

exec.program @buffer inputs [] outputs [] {
  // expected-error @below {{C1: the device must be one such as cpu, cpu:N or cuda:N; found 'cuda'; correct the name}}
  %a = exec.alloc : !exec.buffer<64 on "cuda">
}

// -----

exec.program @zero inputs [] outputs [] {
  // expected-error @below {{C1: the device must be one such as cpu, cpu:N or cuda:N; found 'cpu:0'}}
  %a = exec.alloc : !exec.buffer<64 on "cpu:0">
}

// -----

// expected-error @below {{C1: streams must be on devices such as cpu, cpu:N or cuda:N; found 'cuda'; correct the name}}
exec.program @streams inputs [] outputs [] streams ["cuda"] {
}

// -----

exec.program @stream inputs [] outputs [] {
  %a = exec.alloc : !exec.buffer<64>
  // expected-error @below {{C2: a command's stream must be one of the program's; found 1 of 1}}
  exec.fill %a with 0 {stream = 1 : i64} : !exec.buffer<64>
}

// -----

exec.program @body inputs [] outputs [] streams ["cpu", "cpu"] {
  %a = exec.alloc : !exec.buffer<64>
  %n = exec.input 0 : !exec.buffer<8>
  exec.loop trip %n : !exec.buffer<8> {
    // expected-error @below {{C2: a command in a body must be on the stream of the enclosing command, 0; found 1}}
    exec.fill %a with 0 {stream = 1 : i64} : !exec.buffer<64>
  }
}

// -----

exec.program @device inputs [] outputs [] streams ["cpu:1"] {
  %a = exec.alloc : !exec.buffer<64>
  // expected-error @below {{C3: a command's buffers must be on its stream's device cpu:1; found buffer 0 on cpu; copy it there before}}
  exec.fill %a with 0 : !exec.buffer<64>
}

// -----

exec.program @copy inputs [] outputs [] streams ["cpu:1"] {
  %a = exec.alloc : !exec.buffer<64>
  %b = exec.alloc : !exec.buffer<64 on "cpu:2">
  // expected-error @below {{C3: one of a copy's buffers must be on its stream's device cpu:1; found neither; use another stream for the copy}}
  exec.copy %a to %b bytes 64 : !exec.buffer<64>, !exec.buffer<64 on "cpu:2">
}

// -----

exec.program @view inputs [] outputs [] {
  %a = exec.alloc : !exec.buffer<64>
  // expected-error @below {{C1: the part must be inside the buffer; found devices cpu and cpu:1}}
  %b = exec.view %a at 0 : !exec.buffer<64> -> !exec.buffer<32 on "cpu:1">
}

// -----

exec.program @twice inputs [] outputs [] streams ["cpu", "cpu:1"] {
  // expected-note @below {{first recorded here}}
  exec.record 0
  // expected-error @below {{C4: an event must be recorded once; found event 0 a second time}}
  exec.record 0 {stream = 1 : i64}
}

// -----

exec.program @early inputs [] outputs [] streams ["cpu", "cpu:1"] {
  // expected-error @below {{C4: an event must be recorded before it is waited for; found event 0 not recorded before}}
  exec.wait 0
  exec.record 0 {stream = 1 : i64}
}

// -----

exec.program @same inputs [] outputs [] streams ["cpu", "cpu:1"] {
  exec.record 0
  // expected-error @below {{C4: an event must be waited for on another stream; found event 0 recorded on stream 0 too}}
  exec.wait 0
}

// -----

exec.program @inside inputs [] outputs [] streams ["cpu", "cpu:1"] {
  %n = exec.input 0 : !exec.buffer<8>
  exec.loop trip %n : !exec.buffer<8> {
    // expected-error @below {{C4: events must be outside of bodies; found one inside}}
    exec.record 0
  }
}

// -----

exec.program @grid inputs [] outputs [] streams ["cuda:0"] {
  %a = exec.alloc : !exec.buffer<64 on "cuda:0">
  // expected-error @below {{C2: grid and block must be given together, with three positive sizes each}}
  exec.launch @k(%a) writes [0] inplace [] extent 1 grain 1 scratch 0 flops 0.0 bytes 0.0 {grid = array<i32: 1, 1, 1>} : !exec.buffer<64 on "cuda:0">
}

// -----

exec.program @alone inputs [] outputs [] {
  %n = exec.input 0 : !exec.buffer<8>
  // expected-error @below {{C5: a concurrent loop must follow another loop on its stream, outside of bodies; found no command before it}}
  exec.loop trip %n : !exec.buffer<8> concurrent {
  }
}

// -----

exec.program @nested inputs [] outputs [] {
  %n = exec.input 0 : !exec.buffer<8>
  exec.loop trip %n : !exec.buffer<8> {
    exec.loop trip %n : !exec.buffer<8> {
    }
    // expected-error @below {{C5: a concurrent loop must follow another loop on its stream, outside of bodies; found a loop in a body}}
    exec.loop trip %n : !exec.buffer<8> concurrent {
    }
  }
}
