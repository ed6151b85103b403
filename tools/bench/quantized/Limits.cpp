//===- Limits.cpp - loops at the limits of memory and of dot products -----===//
#include "tools/bench/quantized/Limits.h"
#include "runtime/device/cpu/Parallel.h"

#include <immintrin.h>

using dlc::runtime::parallelFor;

namespace limits {

void readAll(const void *data, int64_t bytes, int threads) {
  typedef long Lanes __attribute__((vector_size(64), aligned(8), may_alias));
  constexpr int kSums = 4;
  parallelFor(threads, bytes / 64 / kSums, 64, [&](int64_t begin, int64_t end, int) {
    const auto *from = static_cast<const Lanes *>(data);
    Lanes sums[kSums] = {};
    for (int64_t i = begin; i < end; ++i)
#pragma GCC unroll 4
      for (int s = 0; s < kSums; ++s)
        sums[s] ^= from[i * kSums + s];
    volatile long used = sums[0][0] ^ sums[1][1] ^ sums[2][2] ^ sums[3][3];
    (void)used;
  });
}

#ifdef __AVX512VNNI__
bool hasByteProducts() { return true; }

double multiplyBytes(int threads) {
  constexpr long kSteps = 1 << 18;
  constexpr int kSums = 12; // independent accumulators: more than two units times their latency
  parallelFor(threads, threads, 1, [&](int64_t, int64_t, int) {
    __m512i sums[kSums] = {};
    __m512i x = _mm512_set1_epi8(3), y = _mm512_set1_epi8(5);
    for (long i = 0; i < kSteps; ++i)
#pragma GCC unroll 12
      for (int s = 0; s < kSums; ++s) {
        sums[s] = _mm512_dpbusd_epi32(sums[s], x, y);
        asm volatile("" : "+v"(sums[s]));
      }
    volatile int used = 0;
#pragma GCC unroll 12
    for (int s = 0; s < kSums; ++s)
      used = _mm512_cvtsi512_si32(sums[s]);
    (void)used;
  });
  return 2.0 * 64 * kSums * double(kSteps) * threads;
}
#else
bool hasByteProducts() { return false; }
double multiplyBytes(int) { return 0; }
#endif

} // namespace limits
