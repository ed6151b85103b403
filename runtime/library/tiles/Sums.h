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
#include "runtime/simd/arch/amx/Tiles.h"

namespace dlc::tiles {
namespace {

using simd::publish;

template <bool tall> inline void zeroSums() {
  simd::zeroTile<0>();
  simd::zeroTile<1>();
  if (tall) {
    simd::zeroTile<2>();
    simd::zeroTile<3>();
  }
}

template <bool tall> inline void loadLeft(const char *part) {
  simd::loadTile<4>(part, 64);
  if (tall)
    simd::loadTile<5>(part + kTile, 64);
}

inline void loadRight(const char *part) {
  simd::loadTile<6>(part, 64);
  simd::loadTile<7>(part + kTile, 64);
}

template <bool tall> inline void multiplyParts() {
  simd::addTileProducts<0, 4, 6>();
  simd::addTileProducts<1, 4, 7>();
  if (tall) {
    simd::addTileProducts<2, 5, 6>();
    simd::addTileProducts<3, 5, 7>();
  }
}

template <bool tall> inline void storeSums(float *to, int64_t row) {
  int64_t bytes = row * 4;
  simd::storeTile<0>(to, bytes);
  simd::storeTile<1>(to + 16, bytes);
  if (tall) {
    simd::storeTile<2>(to + 16 * row, bytes);
    simd::storeTile<3>(to + 16 * row + 16, bytes);
  }
}

template <bool tall> inline void loadSums(const float *from, int64_t row) {
  int64_t bytes = row * 4;
  simd::loadTile<0>(from, bytes);
  simd::loadTile<1>(from + 16, bytes);
  if (tall) {
    simd::loadTile<2>(from + 16 * row, bytes);
    simd::loadTile<3>(from + 16 * row + 16, bytes);
  }
}

} // namespace
} // namespace dlc::tiles

#endif // DLC_RUNTIME_LIBRARY_TILES_SUMS_H
