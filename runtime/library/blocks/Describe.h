//===- Describe.h - matmuls with block-quantized weights: interface for the compiler -===//
#ifndef DLC_RUNTIME_LIBRARY_BLOCKS_DESCRIBE_H
#define DLC_RUNTIME_LIBRARY_BLOCKS_DESCRIBE_H

#include "runtime/library/blocks/Kernels.h"
#include "runtime/library/products/Product.h"

namespace dlc::blocks {

/// Number of columns of a panel of weights on this machine: 16 with AVX-512 and VNNI, 8 with AVX2
/// and FMA, otherwise 0.
DLC_EXPORT int64_t getKernelLanes();
/// Returns the maximum number of rows for which 8-bit weights are about as fast as f32 weights, or
/// faster. With AVX2, each multiplication step of a row costs as much as several steps with f32
/// weights. Returns 0 if there are no kernels.
DLC_EXPORT int64_t maxRows();

/// Constant block-quantized weights [n, k], in blocks along k. Each block has a scale and may have
/// a zero point.
struct BlockQuantizedWeights {
  int64_t n = 0, blocks = 0, depth = 0;
  int64_t bits = 8;                ///< width of a quantized weight: 4 or 8
  const int8_t *numbers = nullptr; ///< weights [n, blocks, depth]; padding may have any value
  const float *scales = nullptr;   ///< scale of each block, [n, blocks]
  const float *zeros = nullptr;    ///< integer zero points [n, blocks]; null: no zero points

  /// Returns the zero point that all blocks share, or nullopt if they differ.
  DLC_EXPORT std::optional<int64_t> sharedZero() const;
};

/// Returns the kernel parameters of a matmul by these weights.
DLC_EXPORT schema::BlocksKernel buildParameters(const BlockQuantizedWeights &plain, int64_t lanes,
                                                int64_t digits);

DLC_EXPORT uint64_t packedBytes(const BlockQuantizedWeights &plain,
                                const schema::BlocksKernel &parameters);
DLC_EXPORT void packWeights(const BlockQuantizedWeights &plain,
                            const schema::BlocksKernel &parameters, void *packed);

constexpr const char *kTilesName = "blocks:tiles";
/// Returns true if this machine has tiles whose kernel supports blocks of `depth` elements.
DLC_EXPORT bool supportsTiles(int64_t depth);
/// Returns the number of rows of the left operand that the tile kernel multiplies by the weights at
/// a time, a multiple of 32.
DLC_EXPORT int64_t countRowsOnTiles(int64_t k, int64_t parts);

/// Returns the sizes and parameters of a matmul by weights of shape [n, k]. Throws dlc::Error.
DLC_EXPORT Shape makeShape(const schema::BlocksKernel &kernel, int64_t n, int64_t k);
DLC_EXPORT products::KernelConfig makeKernelConfig(const Shape &shape, int64_t lanes);
void checkProduct(const products::MatmulDesc &product);
std::unique_ptr<runtime::LibraryCall> makeTilesCall(const schema::Product &desc,
                                                    const schema::BlocksKernel &kernel,
                                                    std::span<const runtime::BufferInfo> buffers,
                                                    int threads);

} // namespace dlc::blocks

#endif // DLC_RUNTIME_LIBRARY_BLOCKS_DESCRIBE_H
