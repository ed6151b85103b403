//===- Sums.h - blocks of sums in a thread's tiles ------------------------------===//
//
// Tiles 0 to 3 hold sums of 32 rows by 32 columns, 4 and 5 a part of the left operand, 6 and 7 one
// of the right. `tall`: more than 16 rows count.
//
// For code compiled with tiles alone.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_TILES_SUMS_H
#define DLC_RUNTIME_LIBRARY_TILES_SUMS_H

#include "runtime/library/tiles/Lanes.h"

namespace dlc::tiles {
namespace {

/// The compiler does not know what loads of tiles read: what was written before must be in memory.
inline void publish(const void *memory) { asm volatile("" : : "r"(memory) : "memory"); }

template <bool tall> inline void zeroSums() {
  _tile_zero(0);
  _tile_zero(1);
  if (tall) {
    _tile_zero(2);
    _tile_zero(3);
  }
}

template <bool tall> inline void loadLeft(const char *part) {
  _tile_loadd(4, part, 64);
  if (tall)
    _tile_loadd(5, part + kTile, 64);
}

inline void loadRight(const char *part) {
  _tile_loadd(6, part, 64);
  _tile_loadd(7, part + kTile, 64);
}

template <bool tall> inline void multiplyParts() {
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  if (tall) {
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
}

template <bool tall> inline void storeSums(float *to, int64_t row) {
  int64_t bytes = row * 4;
  _tile_stored(0, to, bytes);
  _tile_stored(1, to + 16, bytes);
  if (tall) {
    _tile_stored(2, to + 16 * row, bytes);
    _tile_stored(3, to + 16 * row + 16, bytes);
  }
}

template <bool tall> inline void loadSums(const float *from, int64_t row) {
  int64_t bytes = row * 4;
  _tile_loadd(0, from, bytes);
  _tile_loadd(1, from + 16, bytes);
  if (tall) {
    _tile_loadd(2, from + 16 * row, bytes);
    _tile_loadd(3, from + 16 * row + 16, bytes);
  }
}

} // namespace
} // namespace dlc::tiles

#endif // DLC_RUNTIME_LIBRARY_TILES_SUMS_H
