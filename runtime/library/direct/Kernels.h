//===- Kernels.h - the steps of a direct convolution, one thread's part each --------===//
//
// A convolution is a product: each result's pixel has a row of the numbers under the window, which
// meets a column of weights for each of the results' channels. The rows of some pixels lie as
// images in blocks of V channels do, and with a window of one pixel they are the image:
//
//   data     [y and x in the window, channel block][pixel][V]
//   weights  [pair of blocks of results' channels][y and x in the window, channel][2][V]
//
// so that weights, which are more than all else where pixels are few, are read in the order in
// which they lie. A last block of results' channels that has no other stands alone.
//
// This header is read by files compiled for other processors than the rest: nothing here may bring
// inline functions along that the linker could take for everybody.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_DIRECT_KERNELS_H
#define DLC_RUNTIME_LIBRARY_DIRECT_KERNELS_H

#include "runtime/library/simd/Step.h"

namespace dlc::direct {

using simd::Step;

struct Shape {
  int64_t batch = 0;
  int64_t inBlocks = 0, outBlocks = 0; // channels / V
  int64_t inHeight = 0, inWidth = 0, outHeight = 0, outWidth = 0;
  int64_t windowHeight = 1, windowWidth = 1;
  int64_t strideY = 1, strideX = 1, dilationY = 1, dilationX = 1;
  int64_t top = 0, left = 0; // padding
  bool channelsLast = false;
  int64_t depth = 0; // blocks of a row of data
};

/// Some of an image's results, and the rows of the window that meet the image anywhere in them:
/// the others meet padding alone.
struct Pixels {
  int64_t image = 0, first = 0, count = 0;
  int64_t windowBegin = 0, windowEnd = 1;
};

/// From one block to the next: so many elements.
struct Rows {
  const float *at = nullptr;
  int64_t block = 0;
};

struct Epilogue {
  const float *bias = nullptr;
  const Step *steps = nullptr;
  int stepCount = 0;
};

struct Kernels {
  int lanes;
  /// The rows of some pixels, as far as the window meets the image.
  void (*gather)(const Shape &shape, const float *image, const Pixels &pixels, float *to,
                 int64_t block);
  /// Blocks `block` and, with `two`, `block` + 1 of some pixels' results; `sums` has room for
  /// those.
  void (*results)(const Shape &shape, const Pixels &pixels, const Rows &data, const float *weights,
                  int64_t block, bool two, float *sums, const Epilogue &epilogue, float *image);
  /// Weights [O, C, h, w] of results' blocks [begin, end), where `begin` is even.
  void (*weights)(const Shape &shape, const float *plain, float *to, int64_t begin, int64_t end);
};

/// Compiled for AVX-512 (16 lanes) and AVX2 with FMA (8).
extern const Kernels avx512Kernels, avx2Kernels;

} // namespace dlc::direct

#endif // DLC_RUNTIME_LIBRARY_DIRECT_KERNELS_H
