//===- Lanes.h - helpers for packing and multiplying on tiles -------------===//
//
// For inclusion by files that are compiled with AVX-512.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_TILES_LANES_H
#define DLC_RUNTIME_LIBRARY_TILES_LANES_H

#include "runtime/library/simd/Lanes.h"
#include "runtime/library/tiles/Kernel.h"

#include <cstdint>
#include <immintrin.h>

namespace dlc::tiles {
namespace {

/// Size of a tile: bytes (kTile), and rows (kHalf), which is half the lanes of a block.
constexpr int64_t kTile = 1024, kHalf = 16;

using simd::makeLaneMask;

/// Calls `one(block, step, at)` for each block of kBlock lanes and each step of kDepth elements of
/// the reduction dimension. `at` is the index of this block and step in the packed operand. The
/// calls are in the memory order of the unpacked operand: `across` is true if its lanes are
/// adjacent in memory, and false if the elements of the reduction dimension are.
template <typename F>
inline void forEachBlock(int64_t lanes, int64_t depths, bool across, const F &one) {
  const int64_t blocks = (lanes + kBlock - 1) / kBlock, steps = (depths + kDepth - 1) / kDepth;
  for (int64_t outer = 0; outer < (across ? steps : blocks); ++outer)
    for (int64_t inner = 0; inner < (across ? blocks : steps); ++inner) {
      const int64_t block = across ? inner : outer, step = across ? outer : inner;
      one(block, step, block * steps + step);
    }
}

/// Transposes 16 x 16 elements of 32 bits.
inline void transpose(__m512i (&r)[16]) {
  __m512i t[16];
  for (int i = 0; i < 8; ++i) {
    t[2 * i] = _mm512_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm512_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
  }
  for (int i = 0; i < 4; ++i) {
    r[4 * i] = _mm512_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
    r[4 * i + 1] = _mm512_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
    r[4 * i + 2] = _mm512_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
    r[4 * i + 3] = _mm512_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
    r[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
    r[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
  }
}

} // namespace
} // namespace dlc::tiles

#endif // DLC_RUNTIME_LIBRARY_TILES_LANES_H
