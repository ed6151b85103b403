//===- Kernel.h - f32 matmul and convolution kernels on AMX tiles ---------===//
//
// An f32 value is split into bf16 parts x = h + m + l, where each part is the rounded remainder of
// x minus the previous parts. Two parts keep 16 bits of the significand, three parts all 24. Tiles
// multiply bf16 and accumulate in f32, so an f32 product is the sum of three products of parts
// (h·h, h·m, m·h) with two parts, or of six with three parts. Three products omit at most 2^-16 of
// the sum of |a||b|, and 2^-18 on average; six are as accurate as f32. Values below 2^-126 count as
// 0, values above 2^128 - 2^111 may become infinite, and infinities may become NaN.
//
// The files compiled for processors with AMX include this header, so it contains no inline
// functions.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_TILES_KERNEL_H
#define DLC_RUNTIME_LIBRARY_TILES_KERNEL_H

#include "runtime/library/products/Panel.h"

#include <cstdint>

namespace dlc::tiles {

/// Number of rows and columns in a block of the result, and size of the reduction dimension in a
/// step.
constexpr int64_t kBlock = 32, kDepth = 32;
/// Bytes of one bf16 part of an operand's block for one step: 32 rows or columns by 32 elements of
/// the reduction dimension.
constexpr int64_t kPartBytes = 2 * kBlock * kDepth;
/// Bytes of one bf16 part of 32 channels of a pixel.
constexpr int64_t kPixelBytes = 2 * kDepth;

using products::Epilogue;
using products::PackPosition;
using products::PanelArguments;
using products::PostOp;
using products::PostOpKind;
using products::Prologue;

/// Writes the bf16 parts of an operand in the layout of the tiles: blocks of 32 of its `lanes`
/// (rows of the left operand, columns of the right operand), each in steps of 32 elements of the
/// reduction dimension. `lane` and `depth` are strides in elements. With a prologue, the stride
/// along the columns of memory must be 1. Elements after the operand's end are padding of 0.
void packLeft(const float *from, int64_t lane, int64_t depth, int64_t lanes, int64_t depths,
              int parts, void *to, const PackPosition &place = {});
void packRight(const float *from, int64_t lane, int64_t depth, int64_t lanes, int64_t depths,
               int parts, void *to, const PackPosition &place = {});

/// Packs an operand of bf16 bit patterns as one part; `lane` or `depth` must be 1. The second half
/// of a left block is not written if it has no lanes.
void packLeft(const uint16_t *from, int64_t lane, int64_t depth, int64_t lanes, int64_t depths,
              void *to);
void packRight(const uint16_t *from, int64_t lane, int64_t depth, int64_t lanes, int64_t depths,
               void *to);
/// Rounds f32 values to bf16.
void narrow(const float *from, int64_t count, uint16_t *to);

void multiply(const PanelArguments &panel, const Epilogue &epilogue);
/// Multiplies bf16 operands; the right operand's columns are read in place.
void multiplyInPlace(const products::InPlaceMatmul &args);

/// Arguments of packPixels, which writes the bf16 parts of `count` pixels with contiguous channels.
/// For each 32 channels, a pixel takes a row of 64 bytes, adjacent to the row of the next pixel.
/// `stepStride` is the stride in bytes between two groups of 32 channels, `partStride` between two
/// parts. If `from` is null, the pixels are 0.
struct PixelRun {
  const float *from = nullptr;
  int64_t stride = 0, channels = 0, count = 0; ///< stride: between two pixels, in elements
};
void packPixels(const PixelRun &run, int parts, char *to, int64_t stepStride, int64_t partStride);

/// Arguments of convolve, which computes `rows` results of `columns` channels. Result `row` is the
/// sum over `taps` of the packed pixel at offset tapBytes[tap] from the row's pixel in `left`,
/// times the packed weights of the tap. `rightTap` and `rightStride` are the strides in bytes
/// between two taps and between two blocks of columns of the weights. The result is stored in pixel
/// firstPixel + pixel[row] of dst, which is also the pixel of the epilogue's operands. It is
/// dropped if pixel[row] is -1.
struct ConvolveArguments {
  const char *left = nullptr, *right = nullptr;
  int64_t stepStride = 0, partStride = 0, steps = 0;
  const int64_t *tapBytes = nullptr;
  const uint8_t *live = nullptr; ///< by block of rows and tap: 0 if the tap only reads padding
  int64_t taps = 0, rightTap = 0, rightStride = 0;
  const int32_t *pixel = nullptr;
  float *dst = nullptr; ///< address of pixel 0
  int64_t firstPixel = 0, dstPixel = 0, rows = 0, columns = 0, firstColumn = 0;
  int parts = 2;
};
void convolve(const ConvolveArguments &places, const Epilogue &epilogue);

/// Configures and releases the tiles of a thread, before and after its calls of multiply() and
/// convolve().
void configureTiles();
void releaseTiles();

/// Requests permission to use the tile registers from the operating system. Returns false if the
/// permission is denied or the build has no AMX.
bool requestTilePermission();

} // namespace dlc::tiles

#endif // DLC_RUNTIME_LIBRARY_TILES_KERNEL_H
