//===- Loops.h - upper limits of the machine: STREAM loops and an FMA loop --------------------===//
#ifndef DLC_TOOLS_BENCH_BANDWIDTH_LOOPS_H
#define DLC_TOOLS_BENCH_BANDWIDTH_LOOPS_H

#include <cstddef>

namespace bandwidth {

/// Three arrays. Each page is first touched by the thread that will use it.
class Arrays {
public:
  Arrays(size_t elements, int threads);
  ~Arrays();
  Arrays(const Arrays &) = delete;
  Arrays &operator=(const Arrays &) = delete;

  void triad(); // a = b + s c
  /// The triad with non-temporal stores, which bypass the caches and avoid reading the overwritten
  /// lines. Generated kernels store large results in this way.
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

/// Measures the f32 operations per second, in GFLOP/s, of FMAs on registers.
double fmaGflops(int threads);

} // namespace bandwidth

#endif // DLC_TOOLS_BENCH_BANDWIDTH_LOOPS_H
