//===- CumulativeVectors.h - running sums for vectors of V columns --------===//
//
// For inclusion by the files that are compiled for one architecture. kRegisters is the number of
// registers for running sums.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_BUILTIN_CUMULATIVEVECTORS_H
#define DLC_RUNTIME_LIBRARY_BUILTIN_CUMULATIVEVECTORS_H

#include "runtime/library/builtin/Cumulative.h"
#include "runtime/library/simd/Lanes.h"

namespace dlc::runtime::builtin {
namespace {

template <int V, int kRegisters> struct CumulativeVectors {
  static constexpr int kDoubles = V / 2;
  typedef float Floats __attribute__((vector_size(kDoubles * 4)));
  typedef float Loose __attribute__((vector_size(kDoubles * 4), aligned(4), may_alias));
  typedef double Doubles __attribute__((vector_size(kDoubles * 8)));

  static Doubles load(const float *from) {
    return __builtin_convertvector(*reinterpret_cast<const Loose *>(from), Doubles);
  }
  static void store(float *to, Doubles v) {
    *reinterpret_cast<Loose *>(to) = __builtin_convertvector(v, Floats);
  }
  template <bool isProduct, typename T> static T join(T a, T b) {
    return isProduct ? a * b : a + b;
  }

  /// Scans `registers` vectors of columns, from the first element to the last.
  template <int registers, bool isProduct, bool isExclusive>
  static void walk(const CumulativeColumns &c, const float *src, float *dst) {
    constexpr int64_t ahead = 8, line = 16;
    Doubles gathered[registers];
    for (Doubles &each : gathered)
      each = Doubles{} + (isProduct ? 1.0 : 0.0);
    for (int64_t step = 0; step < c.steps; ++step, src += c.pitch, dst += c.pitch) {
      // Prefetch, because the rows may be too far apart for the hardware prefetcher.
      if (step + ahead < c.steps)
        for (int64_t i = 0; i < registers * kDoubles; i += line)
          simd::prefetch(src + ahead * c.pitch + i);
      if constexpr (isExclusive) {
#pragma GCC unroll 16
        for (int r = 0; r < registers; ++r) {
          Doubles x = load(src + r * kDoubles);
          store(dst + r * kDoubles, gathered[r]);
          gathered[r] = join<isProduct>(gathered[r], x);
        }
      } else {
        // All loads precede the stores: a load that shortly follows a store whose address has the
        // same low bits would wait for that store (4K aliasing).
#pragma GCC unroll 16
        for (int r = 0; r < registers; ++r)
          gathered[r] = join<isProduct>(gathered[r], load(src + r * kDoubles));
#pragma GCC unroll 16
        for (int r = 0; r < registers; ++r)
          store(dst + r * kDoubles, gathered[r]);
      }
    }
  }

  /// Scans the last `width` columns, which are fewer than a vector holds.
  template <bool isProduct, bool isExclusive>
  static void walkFew(const CumulativeColumns &c, int64_t width, const float *src, float *dst) {
    double gathered[kDoubles];
    for (double &each : gathered)
      each = isProduct ? 1 : 0;
    for (int64_t step = 0; step < c.steps; ++step, src += c.pitch, dst += c.pitch)
      for (int64_t i = 0; i < width; ++i) {
        double before = gathered[i];
        gathered[i] = join<isProduct>(before, static_cast<double>(src[i]));
        dst[i] = static_cast<float>(isExclusive ? before : gathered[i]);
      }
  }

  template <bool isProduct, bool isExclusive>
  static void all(const CumulativeColumns &c, const float *src, float *dst) {
    constexpr int64_t most = kRegisters * kDoubles, some = 4 * kDoubles;
    int64_t i = 0;
    for (; i + most <= c.width; i += most)
      walk<kRegisters, isProduct, isExclusive>(c, src + i, dst + i);
    for (; i + some <= c.width; i += some)
      walk<4, isProduct, isExclusive>(c, src + i, dst + i);
    for (; i + kDoubles <= c.width; i += kDoubles)
      walk<1, isProduct, isExclusive>(c, src + i, dst + i);
    if (i < c.width)
      walkFew<isProduct, isExclusive>(c, c.width - i, src + i, dst + i);
  }

  static void columns(const CumulativeColumns &c, const float *src, float *dst) {
    if (c.product)
      c.exclusive ? all<true, true>(c, src, dst) : all<true, false>(c, src, dst);
    else
      c.exclusive ? all<false, true>(c, src, dst) : all<false, false>(c, src, dst);
  }

  static constexpr CumulativeKernels kernels = {kRegisters * kDoubles, columns};
};

} // namespace
} // namespace dlc::runtime::builtin

#endif // DLC_RUNTIME_LIBRARY_BUILTIN_CUMULATIVEVECTORS_H
