//===- Loops.cpp - the loops of STREAM --------------------------------------------------===//
#include "tools/bench/bandwidth/Loops.h"

#include <cstdlib>
#include <sys/mman.h>

namespace bandwidth {

Arrays::Arrays(size_t n, int threads) : elements(long(n)), threads(threads) {
  for (int i = 0; i < 3; ++i) {
    size_t bytes = (n * sizeof(float) + (2 << 20) - 1) / (2 << 20) * (2 << 20);
    data[i] = static_cast<float *>(std::aligned_alloc(2 << 20, bytes));
    madvise(data[i], bytes, MADV_HUGEPAGE);
    float *p = data[i];
#pragma omp parallel for num_threads(threads) schedule(static)
    for (long k = 0; k < elements; ++k)
      p[k] = float(k % 1021) * 1e-3f - 0.5f;
  }
}

Arrays::~Arrays() {
  for (float *p : data)
    std::free(p);
}

void Arrays::triad() {
  float *__restrict a = data[0];
  const float *__restrict b = data[1], *__restrict c = data[2];
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long k = 0; k < elements; ++k)
    a[k] = b[k] + 3.0f * c[k];
}

void Arrays::copy() {
  float *__restrict a = data[0];
  const float *__restrict b = data[1];
#pragma omp parallel for num_threads(threads) schedule(static)
  for (long k = 0; k < elements; ++k)
    // A call of memcpy would store past the cache, which is another thing to measure.
    a[k] = b[k] + 0.0f;
}

} // namespace bandwidth
