//===- Loops.h - upper limits of the machine: STREAM loops and an FMA loop --------------------===//
#ifndef DLC_TOOLS_BENCH_BANDWIDTH_LOOPS_H
#define DLC_TOOLS_BENCH_BANDWIDTH_LOOPS_H

#include <cstddef>

namespace bandwidth {

/// The three arrays of the STREAM loops. Each page is first touched by the thread that will use it.
class StreamArrays {
public:
  StreamArrays(size_t elements, int threads);
  ~StreamArrays();
  StreamArrays(const StreamArrays &) = delete;
  StreamArrays &operator=(const StreamArrays &) = delete;

  void triad(); // STREAM triad: a = b + s * c
  /// STREAM triad with non-temporal stores, which bypass the caches and avoid reading the
  /// overwritten lines. Generated kernels store large results with such stores.
  void triadPast();
  void copy(); // a = b
  float *a() { return data[0]; }
  float *b() { return data[1]; }
  float *c() { return data[2]; }

private:
  float *data[3];
  long elements;
  int threads;
};

/// Measures the peak FMA throughput on registers, in f32 GFLOP/s.
double measureFmaGflops(int threads);

} // namespace bandwidth

#endif // DLC_TOOLS_BENCH_BANDWIDTH_LOOPS_H
