//===- Product.h - matmuls with weights in block formats ------------------===//
//
//   y[column, row] = sum over k of x[column, k] * weight[row, k]
//
// Weights are packed once, into a layout with the same number of bits per weight (see Formats.h).
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_QUANTIZED_PRODUCT_H
#define DLC_RUNTIME_LIBRARY_QUANTIZED_PRODUCT_H

#include "dlc/Export.h"
#include "runtime/program/models/BlockFormat.h"

namespace dlc::quantized {

/// Type of the activations in the matmul: int8 with a factor for each 32 elements, or f32.
enum class Activations : uint8_t { Int8, F32 };

/// Matrix of weights. `lanes` is the number of rows of a panel: 8 or 16.
struct Weights {
  runtime::BlockFormat format;
  int64_t rows = 0, depth = 0;
  int64_t lanes = 0;
};

/// Returns whether kernels support the format: all except F32, F16 and BF16.
DLC_EXPORT bool isSupported(runtime::BlockFormat format);

/// Returns the number of lanes of the fastest kernels of this processor.
DLC_EXPORT int64_t getKernelLanes();

/// Checks the format, sizes and lanes of weights. Throws dlc::Error if they are not supported.
DLC_EXPORT void checkWeights(const Weights &weights);

/// Returns the size of the packed weights. It exceeds the size of the blocks by at most 3 % if
/// `lanes` divides the number of rows; otherwise the last panel is padded.
DLC_EXPORT int64_t getPackedBytes(const Weights &weights);

/// Packs `blocks`, which are stored row by row as in GGUF files, into getPackedBytes() bytes at
/// `packed`.
DLC_EXPORT void pack(const Weights &weights, const void *blocks, void *packed, int threads);

/// Columns of activations, with `stride` elements from one column to the next one.
struct Columns {
  const float *x;
  int64_t count, stride;
};

/// Returns the size of the scratch memory of multiply(), which must be aligned to 64 bytes. Throws
/// dlc::Error if the weights are not supported.
DLC_EXPORT int64_t getScratchBytes(const Weights &weights, int64_t columns,
                                   Activations activations);

/// Computes y[column * yStride + row]. Results do not depend on `threads`, and a column's results
/// do not depend on the other columns.
DLC_EXPORT void multiply(const Weights &weights, const void *packed, const Columns &columns,
                         float *y, int64_t yStride, Activations activations, void *scratch,
                         int threads);

} // namespace dlc::quantized

#endif // DLC_RUNTIME_LIBRARY_QUANTIZED_PRODUCT_H
