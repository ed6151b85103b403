//===- Lanes.h - what packing and multiplying have in common --------------------===//
//
// For code compiled with AVX-512 alone.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_TILES_LANES_H
#define DLC_RUNTIME_LIBRARY_TILES_LANES_H

#include <cstdint>
#include <immintrin.h>

namespace dlc::tiles {
namespace {

/// Bytes of a tile, and its rows: half a block.
constexpr int64_t kTile = 1024, kHalf = 16;

/// The first `count` of sixteen.
inline __mmask16 firstLanes(int64_t count) {
  return static_cast<__mmask16>(count >= kHalf ? 0xffff : count <= 0 ? 0 : (1u << count) - 1);
}

} // namespace
} // namespace dlc::tiles

#endif // DLC_RUNTIME_LIBRARY_TILES_LANES_H
