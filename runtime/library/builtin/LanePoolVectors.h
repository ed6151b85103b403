//===- LanePoolVectors.h - pooling kernels for vectors of V channels ------===//
//
// For inclusion by the files that are compiled for one architecture.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_BUILTIN_LANEPOOLVECTORS_H
#define DLC_RUNTIME_LIBRARY_BUILTIN_LANEPOOLVECTORS_H

#include "runtime/library/builtin/LanePool.h"
#include "runtime/library/simd/Ints.h"

namespace dlc::runtime::builtin {
namespace {

template <int Down, int Across> struct Taps {
  static constexpr int32_t down = Down, across = Across;
};

template <int V> struct LanePoolVectors {
  using Floats = simd::Vec<V>;
  using Ints = simd::Ints<V>;

  static Floats load(const float *from) { return simd::load<V>(from); }
  static void store(float *to, Floats v) { simd::store<V>(to, v); }
  /// Position of a row, which is numbered across all groups of all images: its image, its group and
  /// its row in the image.
  struct Row {
    int64_t image, group, y;
    Row(int64_t number, int64_t groups, int64_t rows)
        : image(number / (groups * rows)), group(number / rows % groups), y(number % rows) {}
    int64_t in(const LanePitches &p) const { return image * p.image + group * p.group + y * p.row; }
    int64_t planeIn(const LanePitches &p) const { return image * p.image + group * p.group; }
  };

  /// Calls `each(size)` with the window's size as a compile-time constant if it is 2x2 or 3x3,
  /// otherwise with (0, 0).
  template <typename Each> static void bySize(const LanePool &pool, Each each) {
    if (pool.kernel[0] == 3 && pool.kernel[1] == 3)
      each(Taps<3, 3>());
    else if (pool.kernel[0] == 2 && pool.kernel[1] == 2)
      each(Taps<2, 2>());
    else
      each(Taps<0, 0>());
  }

  /// Calls `visit(element, tap)` for the taps of a window that are inside of the image.
  template <typename Size, typename Visit>
  static void overWindow(const LanePool &pool, const LaneTapRange &down, const LaneTapRange &across,
                         Visit visit) {
    int64_t from = down.offset + across.offset;
    int32_t tap = down.tap + across.tap;
    if (Size::down && down.count == Size::down && across.count == Size::across) {
#pragma GCC unroll 3
      for (int32_t i = 0; i < Size::down; ++i)
#pragma GCC unroll 3
        for (int32_t j = 0; j < Size::across; ++j)
          visit(from + i * pool.step[0] + j * pool.step[1], tap + i * Size::across + j);
      return;
    }
    for (int32_t i = 0; i < down.count; ++i)
      for (int32_t j = 0; j < across.count; ++j)
        visit(from + i * pool.step[0] + j * pool.step[1], tap + i * int32_t(pool.kernel[1]) + j);
  }

  /// Prefetches the elements that only the next row's windows read into the L2 cache.
  static void fetchBelow(const LanePool &pool, const float *from) {
    for (int64_t i = 0; i < 2; ++i)
      for (int64_t j = 0; j < 2; ++j)
        simd::prefetch<simd::CacheLevel::L2>(from + i * pool.src.row + j * pool.src.pixel);
  }

  static void max(const LanePool &pool, const float *src, float *dst, uint8_t *positions,
                  int64_t begin, int64_t end) {
    bySize(pool, [&](auto size) {
      using Size = decltype(size);
      for (int64_t number = begin; number < end; ++number) {
        Row row(number, pool.groups, pool.outSize[0]);
        const float *plane = src + row.planeIn(pool.src);
        int64_t to = row.in(pool.dst);
        const LaneTapRange &down = pool.reaches[0][row.y];
        for (int64_t x = 0; x < pool.outSize[1]; ++x, to += pool.dst.pixel) {
          const LaneTapRange &across = pool.reaches[1][x];
          fetchBelow(pool, plane + down.offset + across.offset + down.count * pool.step[0]);
          int32_t first = down.tap + across.tap;
          bool isEmpty = down.count == 0 || across.count == 0;
          for (int64_t c = 0; c < pool.channels; c += V) {
            const float *from = plane + c;
            if (!positions) {
              simd::NanMaximum<V> largest;
              overWindow<Size>(pool, down, across, [&](int64_t element, int32_t) {
                largest.take(load(from + element));
              });
              store(dst + to + c, largest.result());
              continue;
            }
            Floats best = Floats{} - __builtin_inff();
            Ints at = {};
            if (!isEmpty) {
              best = load(from + down.offset + across.offset);
              at = Ints{} + first;
            }
            overWindow<Size>(pool, down, across, [&](int64_t element, int32_t tap) {
              simd::takeLarger<V>(load(from + element), tap, best, at);
            });
            store(dst + to + c, best);
            simd::storeBytes<V>(positions + to + c, at);
          }
        }
      }
    });
  }

  /// Computes the maxima of a pixel's channels in vectors of W bytes. The last vector overlaps the
  /// previous one. If there are fewer than W channels, the vectors have half the width.
  template <typename Size, typename Byte, int W>
  static void maxOfBytes(const LanePool &pool, const LaneTapRange &down, const LaneTapRange &across,
                         const uint8_t *plane, uint8_t *to) {
    if constexpr (W > 8)
      if (pool.channels < W)
        return maxOfBytes<Size, Byte, W / 2>(pool, down, across, plane, to);
    typedef Byte Bytes __attribute__((vector_size(W)));
    for (int64_t c = 0; c < pool.channels; c += W) {
      int64_t at = c + W <= pool.channels ? c : pool.channels - W;
      Bytes best = Bytes{} + (Byte(-1) < 0 ? Byte(-128) : Byte(0));
      overWindow<Size>(pool, down, across, [&](int64_t element, int32_t) {
        Bytes v;
        __builtin_memcpy(&v, plane + at + element, W);
        best = v > best ? v : best;
      });
      __builtin_memcpy(to + at, &best, W);
    }
  }

  template <typename Byte>
  static void maxBytes(const LanePool &pool, const uint8_t *src, uint8_t *dst, int64_t begin,
                       int64_t end) {
    bySize(pool, [&](auto size) {
      for (int64_t number = begin; number < end; ++number) {
        Row row(number, pool.groups, pool.outSize[0]);
        const uint8_t *plane = src + row.planeIn(pool.src);
        uint8_t *to = dst + row.in(pool.dst);
        for (int64_t x = 0; x < pool.outSize[1]; ++x, to += pool.dst.pixel)
          maxOfBytes<decltype(size), Byte, 4 * V>(pool, pool.reaches[0][row.y], pool.reaches[1][x],
                                                  plane, to);
      }
    });
  }

  static void average(const LanePool &pool, const float *src, float *dst, int64_t begin,
                      int64_t end) {
    bySize(pool, [&](auto size) {
      using Size = decltype(size);
      for (int64_t number = begin; number < end; ++number) {
        Row row(number, pool.groups, pool.outSize[0]);
        const float *plane = src + row.planeIn(pool.src);
        int64_t to = row.in(pool.dst);
        const LaneTapRange &down = pool.reaches[0][row.y];
        for (int64_t x = 0; x < pool.outSize[1]; ++x, to += pool.dst.pixel) {
          const LaneTapRange &across = pool.reaches[1][x];
          for (int64_t c = 0; c < pool.channels; c += V) {
            Floats sum = {};
            overWindow<Size>(pool, down, across,
                             [&](int64_t element, int32_t) { sum += load(plane + c + element); });
            store(dst + to + c, sum * (down.part * across.part));
          }
        }
      }
    });
  }

  /// Computes a pooling gradient as a gather. Calls `add(sum, output element, tap, part)` for each
  /// window that contains a pixel, for all pixels of the rows, and stores the sums.
  template <typename Add>
  static void gather(const LanePool &pool, float *dx, int64_t begin, int64_t end, Add add) {
    for (int64_t number = begin; number < end; ++number) {
      Row row(number, pool.groups, pool.size[0]);
      int64_t plane = row.planeIn(pool.dst);
      float *to = dx + row.in(pool.src);
      const LaneWindow *down = pool.visits[0] + pool.visitsFrom[0][row.y];
      int64_t rows = pool.visitsFrom[0][row.y + 1] - pool.visitsFrom[0][row.y];
      for (int64_t x = 0; x < pool.size[1]; ++x, to += pool.src.pixel) {
        const LaneWindow *across = pool.visits[1] + pool.visitsFrom[1][x];
        int64_t columns = pool.visitsFrom[1][x + 1] - pool.visitsFrom[1][x];
        for (int64_t c = 0; c < pool.channels; c += V) {
          Floats sum = {};
          for (int64_t i = 0; i < rows; ++i)
            for (int64_t j = 0; j < columns; ++j)
              add(sum, plane + c + down[i].offset + across[j].offset, down[i].tap + across[j].tap,
                  down[i].part * across[j].part);
          pool.nonTemporal ? simd::storeNonTemporal<V>(to + c, sum) : store(to + c, sum);
        }
      }
    }
    if (pool.nonTemporal)
      simd::fenceNonTemporal();
  }

  static void maxGradient(const LanePool &pool, const float *dy, const uint8_t *positions,
                          float *dx, int64_t begin, int64_t end) {
    gather(pool, dx, begin, end, [&](Floats &sum, int64_t at, int32_t tap, float) {
      simd::addWhereEqual<V>(sum, positions + at, tap, load(dy + at));
    });
  }

  static void averageGradient(const LanePool &pool, const float *dy, float *dx, int64_t begin,
                              int64_t end) {
    gather(pool, dx, begin, end,
           [&](Floats &sum, int64_t at, int32_t, float part) { sum += load(dy + at) * part; });
  }

  static constexpr LanePoolKernels kernels{
      max, maxBytes<uint8_t>, maxBytes<signed char>, average, maxGradient, averageGradient, V};
};

} // namespace
} // namespace dlc::runtime::builtin

#endif // DLC_RUNTIME_LIBRARY_BUILTIN_LANEPOOLVECTORS_H
