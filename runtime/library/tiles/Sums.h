//===- Sums.h - sums of 32 x 32 elements in tile registers ----------------===//
//
// Tiles 0 to 3 hold the sums of 32 rows by 32 columns, tiles 4 and 5 a part of the left operand,
// and tiles 6 and 7 a part of the right operand. If `tall` is set, more than 16 rows are used.
//
// For inclusion by files that are compiled for processors with AMX.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_TILES_SUMS_H
#define DLC_RUNTIME_LIBRARY_TILES_SUMS_H

#include "runtime/library/tiles/Lanes.h"

namespace dlc::tiles {
namespace {

/// Compiler barrier before tile loads: the compiler does not know which memory they read, so
/// earlier stores must be complete.
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
