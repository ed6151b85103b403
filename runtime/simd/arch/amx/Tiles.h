//===- Tiles.h - the tile registers of AMX --------------------------------===//
#ifndef DLC_RUNTIME_SIMD_ARCH_AMX_TILES_H
#define DLC_RUNTIME_SIMD_ARCH_AMX_TILES_H

#include "runtime/simd/arch/Vectors.h"

#include <immintrin.h>

namespace dlc::simd {
namespace {

template <int tile> DLC_INLINE void zeroTile() { _tile_zero(tile); }

/// Loads the 16 rows of a tile, 64 bytes each. `stride` is the distance of the rows in bytes.
template <int tile> DLC_INLINE void loadTile(const void *from, int64_t stride) {
  _tile_loadd(tile, from, stride);
}
template <int tile> DLC_INLINE void storeTile(void *to, int64_t stride) {
  _tile_stored(tile, to, stride);
}

/// Adds the products of two bf16 tiles to a tile of f32 sums.
template <int sums, int left, int right> DLC_INLINE void addTileProducts() {
  _tile_dpbf16ps(sums, left, right);
}

/// Compiler barrier before tile loads: the compiler does not know which memory they read, so
/// earlier stores must be complete.
inline void publish(const void *memory) { asm volatile("" : : "r"(memory) : "memory"); }

struct alignas(64) TileConfig {
  uint8_t palette = 1, start = 0, reserved[14] = {};
  uint16_t bytes[16] = {};
  uint8_t rows[16] = {};
};

/// Configures eight tiles of 16 rows of 64 bytes.
inline void enableTiles() {
  TileConfig config;
  for (int tile = 0; tile < 8; ++tile) {
    config.bytes[tile] = 64;
    config.rows[tile] = 16;
  }
  publish(&config);
  _tile_loadconfig(&config);
}

inline void disableTiles() { _tile_release(); }

} // namespace
} // namespace dlc::simd

#endif // DLC_RUNTIME_SIMD_ARCH_AMX_TILES_H
