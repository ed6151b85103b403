//===- Describe.h - f32 matmuls in vector registers -----------------------===//
#ifndef DLC_RUNTIME_LIBRARY_VECTORS_DESCRIBE_H
#define DLC_RUNTIME_LIBRARY_VECTORS_DESCRIBE_H

#include "runtime/library/products/Product.h"

namespace dlc::vectors {

/// Number of f32 in a vector of the kernels for this machine: 16 with AVX-512, otherwise 8.
/// ONEDNN_MAX_CPU_ISA=AVX2, which limits oneDNN, also limits this number.
DLC_EXPORT int64_t lanes();

/// Up to this number of columns, rows of the left operand are read in place, because packing them
/// would cost more.
constexpr int64_t kFewColumns = 640;

/// Returns the kernel configuration of a matmul with `rows` rows, in vectors of 16 or 8 f32. Throws
/// dlc::Error.
DLC_EXPORT products::KernelConfig makeKernelConfig(int64_t lanes, int64_t rows);
/// Returns the kernel configuration of a matmul with `m` rows.
DLC_EXPORT products::KernelConfig makeKernelConfig(const schema::VectorsKernel &kernel, int64_t m);
/// Returns the kernel configuration of a grouped matmul (products/Grouped.h).
DLC_EXPORT products::KernelConfig makeGroupedConfig(int64_t lanes);

/// packedBytes() returns the size of a packed right operand of shape [k, n] in bytes, and
/// packWeights() packs it, in blocks of two vectors of columns.
DLC_EXPORT uint64_t packedBytes(int64_t k, int64_t n, int64_t lanes);
DLC_EXPORT void packWeights(const float *b, int64_t rowStride, int64_t columnStride, int64_t k,
                            int64_t n, int64_t lanes, void *packed);

} // namespace dlc::vectors

#endif // DLC_RUNTIME_LIBRARY_VECTORS_DESCRIBE_H
