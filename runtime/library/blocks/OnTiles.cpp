//===- OnTiles.cpp - block-quantized weights on tiles: unpacking, sums and epilogue -===//
//
// This file has its own compiler flags. Its kernels are called only if the processor has AMX (see
// tiles::isAvailable in TilesCall.cpp).
//
//===-----------------------------------------------------------------------------------===//
#include "runtime/library/blocks/OnTiles.h"

#if defined(__AMX_BF16__) && defined(__AVX512BF16__)

#include "runtime/library/simd/EpilogueApplier.h"
#include "runtime/library/tiles/Sums.h"

#include <cstring>
#include <immintrin.h>

namespace dlc::blocks {

namespace {

using tiles::kBlock;
using tiles::kDepth;
using tiles::kHalf;
using tiles::kPartBytes;
using tiles::kTile;

/// Returns the number of tile steps over k. Elements after the end of k are padding of 0.
int64_t stepsOf(const Shape &shape) { return (shape.k + kDepth - 1) / kDepth; }

/// Prefetch distance of the weights, in bytes.
constexpr int64_t kAhead = 4096;

int64_t panelBytes(const Shape &shape) { return shape.blocks * shape.record; }

/// Byte shuffles that widen the first two bytes (`low`) or the last two bytes (`high`) of each
/// 32-bit lane to words.
struct WidenShuffles {
  __m512i low = each(0), high = each(2);

  static __m512i each(int first) {
    constexpr int kNone = 0x80;
    alignas(16) uint8_t from[16];
    for (int i = 0; i < 16; ++i)
      from[i] = uint8_t(i % 2 ? kNone : i / 4 * 4 + first + i % 4 / 2);
    return _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i *>(from)));
  }
};

/// Returns the value to add to a block's unsigned weights, in both 16-bit halves of each 32-bit
/// lane.
__m512i shiftOf(const Shape &shape, const uint8_t *zeros) {
  if (!zeros)
    return _mm512_set1_epi16(static_cast<int16_t>(shape.shift));
  const __m512i each =
      _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(zeros)));
  return _mm512_sub_epi16(_mm512_setzero_si512(),
                          _mm512_or_si512(each, _mm512_slli_epi32(each, 16)));
}

/// Unpacks the 4-bit weights of one step into a bf16 tile. Each row of the tile has two elements of
/// k for every column.
void unpackFourBits(const uint8_t *from, __m512i shift, char *to) {
  // Table of the bf16 values of the 5-bit integers in two's complement.
  alignas(64) static constexpr uint16_t kWhole[32] = {
      0x0000, 0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0, 0x40e0, 0x4100, 0x4110, 0x4120,
      0x4130, 0x4140, 0x4150, 0x4160, 0x4170, 0xc180, 0xc170, 0xc160, 0xc150, 0xc140, 0xc130,
      0xc120, 0xc110, 0xc100, 0xc0e0, 0xc0c0, 0xc0a0, 0xc080, 0xc040, 0xc000, 0xbf80};
  const __m512i whole = _mm512_load_si512(kWhole), nibble = _mm512_set1_epi16(15);
  const WidenShuffles spread;
  auto store = [&](int row, __m512i words) {
    const __m512i index = _mm512_add_epi16(words, shift);
    _mm512_store_si512(to + row * 64, _mm512_permutexvar_epi16(index, whole));
  };
  for (int row = 0; row < 16; row += 4, from += 64) {
    const __m512i bytes = _mm512_loadu_si512(from);
    const __m512i first = _mm512_shuffle_epi8(bytes, spread.low),
                  second = _mm512_shuffle_epi8(bytes, spread.high);
    store(row, _mm512_and_si512(first, nibble));
    store(row + 1, _mm512_and_si512(second, nibble));
    store(row + 2, _mm512_srli_epi16(first, 4));
    store(row + 3, _mm512_srli_epi16(second, 4));
  }
}

void unpackEightBits(const uint8_t *from, __m512i shift, char *to) {
  const WidenShuffles spread;
  auto store = [&](int row, __m512i words) {
    const __m512i each = _mm512_add_epi16(words, shift);
    const __m512 low = _mm512_cvtepi32_ps(_mm512_srai_epi32(_mm512_slli_epi32(each, 16), 16)),
                 high = _mm512_cvtepi32_ps(_mm512_srai_epi32(each, 16));
    const __m512i upper = _mm512_set1_epi32(int(0xffff0000));
    _mm512_store_si512(to + row * 64,
                       _mm512_or_si512(_mm512_srli_epi32(_mm512_castps_si512(low), 16),
                                       _mm512_and_si512(_mm512_castps_si512(high), upper)));
  };
  for (int row = 0; row < 16; row += 2, from += 64) {
    const __m512i bytes = _mm512_loadu_si512(from);
    store(row, _mm512_shuffle_epi8(bytes, spread.low));
    store(row + 1, _mm512_shuffle_epi8(bytes, spread.high));
  }
}

/// Multiplies all rows by two panels of weights. Weights are unpacked for kStepsAtOnce steps at a
/// time, and stay in the L1 cache while all rows are multiplied.
template <int parts> class Pass {
public:
  Pass(const Shape &shape, const TileRows &rows, const uint8_t *weights, int64_t panel,
       const TileScratch &space)
      : shape(shape), rows(rows), weights(weights), panel(panel), space(space),
        panels(shape.panels - panel < kPair ? shape.panels - panel : kPair) {}

  void sum() {
    const int64_t steps = stepsOf(shape), all = (rows.count + kBlock - 1) / kBlock * kBlock;
    std::memset(space.sums, 0, size_t(all * kBlock) * sizeof(float));
    for (int64_t step = 0; step < steps; step += kStepsAtOnce) {
      const int64_t end = step + kStepsAtOnce < steps ? step + kStepsAtOnce : steps;
      for (int64_t p = 0; p < kPair; ++p)
        unpack(panel + p, step, end, space.right + p * kTile);
      tiles::publish(space.right);
      for (int64_t row = 0; row < rows.count; row += kBlock)
        if (rows.count - row > kHalf)
          piece<true>(row, step, end);
        else
          piece<false>(row, step, end);
    }
    add();
  }

  void end(float *to, int64_t toRow, const simd::Epilogue &epilogue) const {
    for (int64_t row = 0; row < rows.count; row += kBlock)
      for (int64_t p = 0; p < panels; ++p) {
        const int64_t column = (panel + p) * kPanel, columns = shape.n - column,
                      some = rows.count - row < kBlock ? rows.count - row : kBlock;
        simd::EpilogueApplier<kPanel>::finish(
            {space.sums + row * kBlock + p * kPanel, kBlock, some,
             columns < kPanel ? columns : kPanel},
            {to + row * toRow + column, toRow, rows.first + row, column}, &epilogue, false);
      }
  }

private:
  const uint8_t *panelAt(int64_t which) const { return weights + which * panelBytes(shape); }

  void unpack(int64_t which, int64_t step, int64_t end, char *to) const {
    const int64_t deep = shape.depth / kDepth, stepBytes = kPanel * kDepth * shape.bits / 8;
    const uint8_t *zeros =
        shape.hasZeros ? panelAt(shape.panels) + which * shape.blocks * kPanel : nullptr;
    for (; step < end; ++step, to += kPartBytes) {
      if (which >= shape.panels) {
        std::memset(to, 0, kTile);
        continue;
      }
      const int64_t block = step / deep;
      const uint8_t *at = panelAt(which) + block * shape.record + step % deep * stepBytes;
      for (int64_t line = 0; line < stepBytes; line += 64)
        _mm_prefetch(reinterpret_cast<const char *>(at) + kAhead + line, _MM_HINT_T0);
      const __m512i shift = shiftOf(shape, zeros ? zeros + block * kPanel : nullptr);
      if (shape.bits == 4)
        unpackFourBits(at, shift, to);
      else
        unpackEightBits(at, shift, to);
    }
  }

  /// Multiplies up to 32 rows by the weights of the steps up to `end`, with separate sums for each
  /// block.
  template <bool tall> void piece(int64_t row, int64_t step, int64_t end) {
    const char *left = rows.left + (row / kBlock * stepsOf(shape) + step) * parts * kPartBytes;
    const char *right = space.right;
    const int64_t deep = shape.depth / kDepth;
    while (step < end) {
      const int64_t block = step / deep, behind = (block + 1) * deep;
      tiles::zeroSums<tall>();
      for (; step < behind && step < end; ++step, right += kPartBytes) {
        tiles::loadRight(right);
        left += parts * kPartBytes;
        for (int p = 1; p <= parts; ++p) {
          tiles::loadLeft<tall>(left - p * kPartBytes);
          tiles::multiplyParts<tall>();
        }
      }
      add();
      tiles::storeSums<tall>(waiting[turn], kBlock);
      tiles::publish(waiting);
      pending = {waiting[turn], space.sums + row * kBlock, block, tall ? kBlock : kHalf};
      turn ^= 1;
    }
  }

  __m512 scaleOf(int64_t p) const {
    if (p >= panels)
      return _mm512_setzero_ps();
    return _mm512_loadu_ps(panelAt(panel + p) + (pending.block + 1) * shape.record -
                           kPanel * int64_t(sizeof(float)));
  }

  /// Adds the pending sums of a block, multiplied by its scales, to the sums of the results, while
  /// the tiles multiply the next block.
  void add() {
    const __m512 first = scaleOf(0), second = scaleOf(1);
    const float *from = pending.from;
    float *to = pending.to;
    for (int64_t i = 0; i < pending.rows; ++i, from += kBlock, to += kBlock) {
      const __m512 x = _mm512_loadu_ps(to), y = _mm512_loadu_ps(to + kHalf);
      _mm512_storeu_ps(to, _mm512_fmadd_ps(_mm512_load_ps(from), first, x));
      _mm512_storeu_ps(to + kHalf, _mm512_fmadd_ps(_mm512_load_ps(from + kHalf), second, y));
    }
  }

  struct Pending {
    const float *from = nullptr;
    float *to = nullptr;
    int64_t block = 0, rows = 0;
  };

  const Shape &shape;
  const TileRows &rows;
  const uint8_t *weights;
  int64_t panel;
  TileScratch space;
  int64_t panels;
  alignas(64) float waiting[2][kBlock * kBlock];
  int turn = 0;
  Pending pending;
};

template <int parts>
void multiply(const Shape &shape, const TileRows &rows, const void *weights, int64_t panel,
              const TileScratch &space, float *to, int64_t toRow, const simd::Epilogue &epilogue) {
  Pass<parts> pass(shape, rows, static_cast<const uint8_t *>(weights), panel, space);
  pass.sum();
  pass.end(to, toRow, epilogue);
}

} // namespace

void multiplyOnTiles(const Shape &shape, const TileRows &rows, const void *weights, int64_t panel,
                     const TileScratch &space, float *to, int64_t toRow,
                     const simd::Epilogue &epilogue) {
  tiles::publish(rows.left);
  if (rows.parts == 1)
    multiply<1>(shape, rows, weights, panel, space, to, toRow, epilogue);
  else if (rows.parts == 2)
    multiply<2>(shape, rows, weights, panel, space, to, toRow, epilogue);
  else
    multiply<3>(shape, rows, weights, panel, space, to, toRow, epilogue);
}

} // namespace dlc::blocks

#else

namespace dlc::blocks {

void multiplyOnTiles(const Shape &, const TileRows &, const void *, int64_t, const TileScratch &,
                     float *, int64_t, const simd::Epilogue &) {}

} // namespace dlc::blocks

#endif
