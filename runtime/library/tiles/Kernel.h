//===- Kernel.h - products of f32 on a processor's tiles (AMX) ------------------===//
//
// x = h + m + l, each of bf16 and each the rounded rest of those before it: two of them keep 16
// bits of x, three all 24. Tiles multiply bf16 and add in f32, so that a product of f32 is the sum
// of three products of parts (h·h, h·l, l·h) or of six. What three leave out is at most 2^-16 of
// the sum of |a||b|, and 2^-18 in the mean; six are as good as f32. Numbers below 2^-126 count as
// 0, what lies above 2^128 - 2^111 may become infinite, and what an infinity becomes may be NaN.
//
// This header is shared with code compiled for those processors alone: nothing in it is inline.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_TILES_KERNEL_H
#define DLC_RUNTIME_LIBRARY_TILES_KERNEL_H

#include "runtime/library/products/Panel.h"

#include <cstdint>

namespace dlc::tiles {

/// Rows and columns that a block of the result has, and elements of a sum that go through tiles at
/// once.
constexpr int64_t kBlock = 32, kDepth = 32;
/// Bytes of one part of a block of an operand: 32 rows or columns, 32 deep.
constexpr int64_t kPartBytes = 2 * kBlock * kDepth;
/// Bytes of one part of 32 channels of a pixel.
constexpr int64_t kPixelBytes = 2 * kDepth;

using products::Epilogue;
using products::Panel;
using products::Place;
using products::Post;
using products::PostKind;
using products::Prologue;

/// Writes parts of an operand, as tiles want them: blocks of 32 of its `lanes` (rows of the left
/// one, columns of the right one), each 32 deep by 32 deep. `lane` and `depth` are strides in
/// elements; that of columns is 1 where there is a prologue. What lies behind its end is 0.
void packLeft(const float *from, int64_t lane, int64_t depth, int64_t lanes, int64_t depths,
              int parts, void *to, const Place &place = {});
void packRight(const float *from, int64_t lane, int64_t depth, int64_t lanes, int64_t depths,
               int parts, void *to, const Place &place = {});

/// The same of bf16, by its bits, as one part; `lane` or `depth` is 1. The second half of a block
/// of the left one is left out where it has no lanes.
void packLeft(const uint16_t *from, int64_t lane, int64_t depth, int64_t lanes, int64_t depths,
              void *to);
void packRight(const uint16_t *from, int64_t lane, int64_t depth, int64_t lanes, int64_t depths,
               void *to);
/// Numbers rounded to bf16.
void narrow(const float *from, int64_t count, uint16_t *to);

void multiply(const Panel &panel, const Epilogue &epilogue);
/// Of one part.
void multiplyLying(const products::Lying &lying);

/// Parts of `count` pixels, whose channels lie side by side: a row of 64 bytes for each pixel and
/// each 32 channels, one pixel behind the other. `stepStride` bytes lie between two such runs of
/// channels, `partStride` between two parts. Without `from` pixels are 0.
struct PixelRun {
  const float *from = nullptr;
  int64_t stride = 0, channels = 0, count = 0; ///< stride: elements between two pixels
};
void packPixels(const PixelRun &run, int parts, char *to, int64_t stepStride, int64_t partStride);

/// Results of a convolution: for each of `rows` places one pixel of `columns` channels, the sum
/// over `taps` of the packed pixels that lie tapBytes[tap] behind `left`, times packed weights of
/// the tap
/// (`rightTap` bytes apart; `rightStride` between blocks of columns). Place `row` is pixel
/// firstPixel + pixel[row] of dst and of the epilogue's operands; -1: none.
struct Places {
  const char *left = nullptr, *right = nullptr;
  int64_t stepStride = 0, partStride = 0, steps = 0;
  const int64_t *tapBytes = nullptr;
  const uint8_t *live = nullptr; ///< of each block of rows and tap: 0 where the tap meets zeros
  int64_t taps = 0, rightTap = 0, rightStride = 0;
  const int32_t *pixel = nullptr;
  float *dst = nullptr; ///< of pixel 0
  int64_t firstPixel = 0, dstPixel = 0, rows = 0, columns = 0, firstColumn = 0;
  int parts = 2;
};
void convolve(const Places &places, const Epilogue &epilogue);

/// Around calls of multiply() and convolve() in one thread.
void enterTiles();
void leaveTiles();

/// Asks the system for the tiles' registers; false where there are none.
bool requestTiles();

} // namespace dlc::tiles

#endif // DLC_RUNTIME_LIBRARY_TILES_KERNEL_H
