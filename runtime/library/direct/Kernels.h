//===- Kernels.h - kernels of a direct convolution ------------------------===//
//
// The convolution is computed as a matmul: each result pixel has a row of the elements under its
// window, which is multiplied by a column of weights for each output channel. The rows of some
// pixels are stored in blocks of V channels, like an image. With a window of one pixel they are the
// image itself:
//
//   data     [y and x in the window, channel block][pixel][V]
//   weights  [pair of blocks of results' channels][y and x in the window, channel][2][V]
//
// The weights are read in the order in which they are stored, because with few pixels they are most
// of the data. If the number of blocks of output channels is odd, the last block has no second
// block.
//
// The files compiled for one instruction set include this header, so it must not contain inline
// functions: the linker could choose their copies for all processors.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_DIRECT_KERNELS_H
#define DLC_RUNTIME_LIBRARY_DIRECT_KERNELS_H

#include "runtime/library/simd/Step.h"

namespace dlc::direct {

using simd::EpilogueStep;

struct Shape {
  int64_t batch = 0;
  int64_t inBlocks = 0, outBlocks = 0; // input and output channels, divided by V
  int64_t inHeight = 0, inWidth = 0, outHeight = 0, outWidth = 0;
  int64_t windowHeight = 1, windowWidth = 1;
  int64_t strideY = 1, strideX = 1, dilationY = 1, dilationX = 1;
  int64_t top = 0, left = 0; // padding at the top and at the left
  bool channelsLast = false;
  int64_t depth = 0; // number of channel blocks in a row of data
};

/// Range of result pixels of one image, and the range of the window's rows that overlap the image
/// for any of these pixels. The other rows of the window only read padding.
struct PixelRange {
  int64_t image = 0, first = 0, count = 0;
  int64_t windowBegin = 0, windowEnd = 1;
};

/// Left operand of the matmul: the address of the rows of data, and the stride between two channel
/// blocks in elements.
struct DataRows {
  const float *at = nullptr;
  int64_t block = 0;
};

struct Epilogue {
  const float *bias = nullptr;
  const EpilogueStep *steps = nullptr;
  int stepCount = 0;
};

struct Kernels {
  int lanes;
  /// Copies the source elements under the windows of `pixels` into rows of data, for the window's
  /// rows that overlap the image.
  void (*gather)(const Shape &shape, const float *image, const PixelRange &pixels, float *to,
                 int64_t block);
  /// Computes the results of `pixels` in the output channel block `block` and, if `two` is set, in
  /// block `block` + 1. `sums` has capacity for these results.
  void (*results)(const Shape &shape, const PixelRange &pixels, const DataRows &data,
                  const float *weights, int64_t block, bool two, float *sums,
                  const Epilogue &epilogue, float *image);
  /// Packs weights [O, C, h, w] of the output channel blocks [begin, end); `begin` must be even.
  void (*weights)(const Shape &shape, const float *plain, float *to, int64_t begin, int64_t end);
};

/// Kernels compiled for AVX-512 (16 lanes), for AVX2 with FMA (8 lanes), and for any CPU (8 lanes).
extern const Kernels avx512Kernels, avx2Kernels, scalarKernels;

} // namespace dlc::direct

#endif // DLC_RUNTIME_LIBRARY_DIRECT_KERNELS_H
