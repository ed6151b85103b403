//===- Pairs.h - sums over pixels on a processor's tiles (AMX), in bf16 ---------===//
//
// Where a product sums over pixels, and channels lie last, tiles want two pixels of the right
// operand's channels side by side, and the left operand turned round.
//
// This header is shared with code compiled for those processors alone: nothing in it is inline.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_TILES_PAIRS_H
#define DLC_RUNTIME_LIBRARY_TILES_PAIRS_H

#include <cstdint>

namespace dlc::tiles {

/// Pixels two by two, at most 16 pairs of them: `pixels` says which; one that is not below `limit`,
/// or negative, is 0. What comes after them is fetched, if there is `more`.
struct PixelPairs {
  const uint16_t *from = nullptr;
  int64_t channels = 0; ///< and elements between two pixels
  const int32_t *pixels = nullptr;
  int64_t limit = 0, pairs = 0;
  bool more = false;
};

/// For each block of 32 channels, `block` bytes apart: a row for each pair, of 64 bytes (16
/// channels) or 128 (32).
void packPairs(const PixelPairs &run, int64_t row, int64_t block, char *to);

/// The same as tiles, with a row for each of 16 channels: one where a block has no more, otherwise
/// two, one behind the other. There are 16 pairs.
void packTurned(const PixelPairs &run, bool tall, int64_t block, char *to);

/// sums[32][32] = (isFirst ? 0 : sums) + turned · pairs, over `groups` of `steps` times 16 pairs.
/// `tall`: more than 16 of its rows count; `wide`: more than 16 columns.
struct PixelSums {
  const char *left = nullptr, *right = nullptr;
  int64_t leftStep = 0, leftGroup = 0, rightRow = 0, rightGroup = 0;
  int64_t groups = 0, steps = 0;
  bool isFirst = true, tall = true, wide = true;
};
void sumPixels(const PixelSums &product, float *sums);

} // namespace dlc::tiles

#endif // DLC_RUNTIME_LIBRARY_TILES_PAIRS_H
