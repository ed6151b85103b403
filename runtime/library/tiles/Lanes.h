//===- Lanes.h - helpers for packing and multiplying on tiles -------------===//
//
// For inclusion by files that are compiled with AVX-512.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_TILES_LANES_H
#define DLC_RUNTIME_LIBRARY_TILES_LANES_H

#include "runtime/library/simd/Lanes.h"
#include "runtime/library/tiles/Kernel.h"
#include "runtime/simd/arch/amx/Words.h"

#include <cstdint>

namespace dlc::tiles {
namespace {

/// Size of a tile: bytes (kTile), and rows (kHalf), which is half the lanes of a block.
constexpr int64_t kTile = 1024, kHalf = 16;

using Floats = simd::Vec<16>;
using Ints = simd::Ints<16>;
using simd::makeLaneMask;
using simd::Mask;
using simd::transpose;

/// Loads the f32 that are in the mask; the other lanes are 0.
inline Floats loadMasked(const float *from, Mask mask) { return simd::loadMasked<16>(from, mask); }

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

} // namespace
} // namespace dlc::tiles

#endif // DLC_RUNTIME_LIBRARY_TILES_LANES_H
