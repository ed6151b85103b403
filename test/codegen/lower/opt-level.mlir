// RUN: dlc-opt %s -dlc-opt-level | FileCheck %s

// Kernels with fewer optimizations may cost at most 0.5 % of the program's time: 0.5 us here. The assumed cost of such a kernel is 0.06 us per launch and 30 % of its time.

// CHECK: exec.kernel @short attributes {opt_level = "minimal"} {
exec.kernel @short {}
// Without an estimate, the time is derived from the bytes.
// CHECK: exec.kernel @unknown attributes {opt_level = "minimal"} {
exec.kernel @unknown {}
// Much arithmetic per byte.
// CHECK: exec.kernel @dense {
exec.kernel @dense {}
// The number of launches is unknown.
// CHECK: exec.kernel @repeated {
exec.kernel @repeated {}
// Launched by two commands: the sum of both decides.
// CHECK: exec.kernel @twice {
exec.kernel @twice {}
// CHECK: exec.kernel @long {
exec.kernel @long {}
// CHECK: exec.kernel @unused {
exec.kernel @unused {}

exec.program @main inputs [] outputs [] {
  %0 = exec.alloc : !exec.buffer<64>
  %1 = exec.alloc : !exec.buffer<1>
  exec.launch @short(%0, %0) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 1.0 bytes 64.0 {estimate = 0.1 : f64} : !exec.buffer<64>, !exec.buffer<64>
  exec.launch @unknown(%0, %0) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 1.0 bytes 2000.0 : !exec.buffer<64>, !exec.buffer<64>
  exec.loop while %1 : !exec.buffer<1> {
    exec.launch @repeated(%0, %0) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 1.0 bytes 64.0 {estimate = 0.1 : f64} : !exec.buffer<64>, !exec.buffer<64>
  }
  exec.launch @dense(%0, %0) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 128.0 bytes 64.0 {estimate = 0.1 : f64} : !exec.buffer<64>, !exec.buffer<64>
  exec.launch @twice(%0, %0) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 1.0 bytes 64.0 {estimate = 0.6 : f64} : !exec.buffer<64>, !exec.buffer<64>
  exec.launch @twice(%0, %0) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 1.0 bytes 64.0 {estimate = 0.6 : f64} : !exec.buffer<64>, !exec.buffer<64>
  exec.launch @long(%0, %0) writes [1] inplace [] extent 1 grain 1 scratch 0 flops 1.0 bytes 64.0 {estimate = 98.0 : f64} : !exec.buffer<64>, !exec.buffer<64>
}
