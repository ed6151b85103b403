//===- Loops.cpp - STREAM loops and an FMA loop ---------------------------===//
#include "tools/bench/bandwidth/Loops.h"
#include "runtime/device/cpu/Parallel.h"

#include <chrono>
#include <cstdlib>
#include <immintrin.h>
#include <sys/mman.h>

using dlc::runtime::parallelFor;

namespace bandwidth {

/// Grain size of the parallel loops: 16 elements, one cache line.
constexpr int64_t kGrain = 16;

StreamArrays::StreamArrays(size_t n, int threads) : elements(long(n)), threads(threads) {
  for (int i = 0; i < 3; ++i) {
    size_t bytes = (n * sizeof(float) + (2 << 20) - 1) / (2 << 20) * (2 << 20);
    data[i] = static_cast<float *>(std::aligned_alloc(2 << 20, bytes));
    madvise(data[i], bytes, MADV_HUGEPAGE);
    float *p = data[i];
    parallelFor(threads, elements, kGrain, [&](int64_t begin, int64_t end, int) {
      for (int64_t k = begin; k < end; ++k)
        p[k] = float(k % 1021) * 1e-3f - 0.5f;
    });
  }
}

StreamArrays::~StreamArrays() {
  for (float *p : data)
    std::free(p);
}

void StreamArrays::triad() {
  float *__restrict a = data[0];
  const float *__restrict b = data[1], *__restrict c = data[2];
  parallelFor(threads, elements, kGrain, [&](int64_t begin, int64_t end, int) {
    for (int64_t k = begin; k < end; ++k)
      a[k] = b[k] + 3.0f * c[k];
  });
}

void StreamArrays::triadPast() {
  typedef float Lanes __attribute__((vector_size(64)));
  float *__restrict a = data[0];
  const float *__restrict b = data[1], *__restrict c = data[2];
  parallelFor(threads, elements, kGrain, [&](int64_t begin, int64_t end, int) {
    for (int64_t k = begin; k < end; k += 16) {
      Lanes sum =
          *reinterpret_cast<const Lanes *>(b + k) + 3.0f * *reinterpret_cast<const Lanes *>(c + k);
#ifdef __AVX512F__
      _mm512_stream_ps(a + k, reinterpret_cast<__m512 &>(sum));
#else
    for (int part = 0; part < 16; part += 4)
      _mm_stream_ps(a + k + part,
                    *reinterpret_cast<__m128 *>(reinterpret_cast<float *>(&sum) + part));
#endif
    }
    _mm_sfence();
  });
}

void StreamArrays::copy() {
  float *__restrict a = data[0];
  const float *__restrict b = data[1];
  parallelFor(threads, elements, kGrain, [&](int64_t begin, int64_t end, int) {
    for (int64_t k = begin; k < end; ++k)
      // The addition of zero prevents the compiler from calling memcpy, which would use
      // non-temporal stores and so measure something else.
      a[k] = b[k] + 0.0f;
  });
}

double measureFmaGflops(int threads) {
#ifdef __AVX512F__
  constexpr int kLanes = 16;
#else
  constexpr int kLanes = 8;
#endif
  typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float))));
  constexpr long kSteps = 4 << 20;
  constexpr int kSums = 12; // independent accumulators: more than two FMA units times their latency
  auto start = std::chrono::steady_clock::now();
  volatile float used = 0;
  parallelFor(threads, threads, 1, [&](int64_t, int64_t, int) {
    Lanes sums[kSums] = {}, x = {}, y = {};
    x += 0.999f;
    y += 1e-3f;
    for (long i = 0; i < kSteps; ++i)
#pragma GCC unroll 12
      for (int s = 0; s < kSums; ++s) {
        sums[s] = sums[s] * x + y;
        asm volatile("" : "+v"(sums[s]));
      }
#pragma GCC unroll 12
    for (int s = 0; s < kSums; ++s)
      used = sums[s][0];
  });
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return 2.0 * kLanes * kSums * kSteps * threads / seconds.count() * 1e-9;
}

} // namespace bandwidth
