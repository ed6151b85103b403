//===- Describe.h - f32 and bf16 matmuls on AMX tiles ---------------------===//
#ifndef DLC_RUNTIME_LIBRARY_TILES_DESCRIBE_H
#define DLC_RUNTIME_LIBRARY_TILES_DESCRIBE_H

#include "runtime/library/products/Product.h"
#include "runtime/library/tiles/Kernel.h"

namespace dlc::tiles {

/// Returns true if this machine has AMX tiles and the operating system permits their use.
DLC_EXPORT bool isAvailable();

/// Returns the kernel configuration of matmuls whose f32 operands are split into 1, 2 or 3 bf16
/// parts. Matmuls of bf16 operands have one part.
DLC_EXPORT products::KernelConfig makeKernelConfig(int parts);

/// packedBytes() returns the size of a packed right operand of shape [k, n] in bytes, and
/// packWeights() packs it, in the layout of the tiles.
DLC_EXPORT uint64_t packedBytes(int64_t k, int64_t n, int parts);
DLC_EXPORT void packWeights(const float *b, int64_t rowStride, int64_t columnStride, int64_t k,
                            int64_t n, int parts, void *packed);

inline int64_t blocks(int64_t n) { return (n + kBlock - 1) / kBlock; }

} // namespace dlc::tiles

#endif // DLC_RUNTIME_LIBRARY_TILES_DESCRIBE_H
