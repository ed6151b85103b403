//===- Pairs.h - bf16 sums over pixels on AMX tiles, for weight gradients -===//
//
// A weight gradient sums over pixels, and the channels are stored last. Tiles then need pairs of
// pixels interleaved in the right operand, and the left operand transposed.
//
// The files compiled for processors with AMX include this header, so it contains no inline
// functions.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_TILES_PAIRS_H
#define DLC_RUNTIME_LIBRARY_TILES_PAIRS_H

#include <cstdint>

namespace dlc::tiles {

/// Arguments of packPairs and packTransposed: up to 16 pairs of pixels with the indices in
/// `pixels`. A pixel is 0 if its index is negative or not below `limit`. If `more` is set, the
/// pixels of the following pairs are prefetched.
struct PixelPairs {
  const uint16_t *from = nullptr;
  int64_t channels = 0; ///< also the stride between two pixels, in elements
  const int32_t *pixels = nullptr;
  int64_t limit = 0, pairs = 0;
  bool more = false;
};

/// Packs the right operand: interleaved pixel pairs for each block of 32 channels, with a stride of
/// `block` bytes between two blocks. Each pair has a row of 64 bytes (16 channels) or 128 bytes (32
/// channels).
void packPairs(const PixelPairs &run, int64_t row, int64_t block, char *to);

/// Packs the left operand: 16 transposed pixel pairs, as tiles with a row for each of 16 channels.
/// Each block has two adjacent tiles if `tall` is set, otherwise one.
void packTransposed(const PixelPairs &run, bool tall, int64_t block, char *to);

/// Arguments of sumPixels, which computes sums[32][32] = (isFirst ? 0 : sums) + left · right, over
/// `groups` of `steps` times 16 pairs. `left` is packed by packTransposed, and `right` by
/// packPairs. If `tall` is set, more than 16 rows are used; if `wide` is set, more than 16 columns.
struct PixelSums {
  const char *left = nullptr, *right = nullptr;
  int64_t leftStep = 0, leftGroup = 0, rightRow = 0, rightGroup = 0;
  int64_t groups = 0, steps = 0;
  bool isFirst = true, tall = true, wide = true;
};
void sumPixels(const PixelSums &product, float *sums);

} // namespace dlc::tiles

#endif // DLC_RUNTIME_LIBRARY_TILES_PAIRS_H
