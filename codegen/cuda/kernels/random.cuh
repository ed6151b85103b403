//===- random.cuh - random numbers (Philox) --------------------------------===//
#pragma once
#include "arithmetic.cuh"

namespace dk {

struct random_words {
  unsigned e[4];
};

DK_INLINE random_words philox(unsigned long long block, long long counter,
                              unsigned long long seed) {
  unsigned c0 = (unsigned)block, c1 = (unsigned)(block >> 32);
  unsigned c2 = (unsigned)counter, c3 = (unsigned)((unsigned long long)counter >> 32);
  unsigned k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    unsigned long long a = 0xD2511F53ull * c0, b = 0xCD9E8D57ull * c2;
    c0 = (unsigned)(b >> 32) ^ c1 ^ k0;
    c2 = (unsigned)(a >> 32) ^ c3 ^ k1;
    c1 = (unsigned)b;
    c3 = (unsigned)a;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  random_words w = {{c0, c1, c2, c3}};
  return w;
}

DK_INLINE unsigned select_word(const random_words &w, int i) {
  return i == 0 ? w.e[0] : i == 1 ? w.e[1] : i == 2 ? w.e[2] : w.e[3];
}

DK_INLINE double normal_f64(const random_words &w, int i) {
  double u = (double)((select_word(w, i & 2) >> 8) + 1u) * (1.0 / (1 << 24));
  double turns = (double)(select_word(w, (i & 2) + 1) >> 8) * (2.0 / (1 << 24));
  return ::sqrt(-2.0 * ::log(u)) *
         (i & 1 ? ::sin(3.14159265358979324 * turns) : ::cos(3.14159265358979324 * turns));
}

template <int Bits> DK_INLINE float uniform(const random_words &w, int i) {
  return (float)(select_word(w, i) >> (32 - Bits)) * (1.0f / (1 << Bits));
}

DK_INLINE float normal(const random_words &w, int i) {
  float u = (float)((select_word(w, i & 2) >> 8) + 1u) * (1.0f / (1 << 24));
  float turns = (float)(select_word(w, (i & 2) + 1) >> 8) * (2.0f / (1 << 24));
  float factor = i & 1 ? sinpif(turns) : cospif(turns);
  return sqrtf(-2.0f * logf(u)) * factor;
}

} // namespace dk
