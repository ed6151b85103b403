//===- Loops.h - the limits: loops of STREAM, and of FMA ------------------===//
#ifndef DLC_TOOLS_BENCH_BANDWIDTH_LOOPS_H
#define DLC_TOOLS_BENCH_BANDWIDTH_LOOPS_H

#include <cstddef>

namespace bandwidth {

/// Three arrays, each page first touched by the thread that will use it.
class Arrays {
public:
  Arrays(size_t elements, int threads);
  ~Arrays();
  Arrays(const Arrays &) = delete;
  Arrays &operator=(const Arrays &) = delete;

  void triad(); // a = b + s c
  /// The same with stores that go past the caches and do not read what they overwrite, as
  /// generated kernels store large results.
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

/// f32 operations in a second, in multiplications with addition that stay in registers.
double fmaGflops(int threads);

} // namespace bandwidth

#endif // DLC_TOOLS_BENCH_BANDWIDTH_LOOPS_H
