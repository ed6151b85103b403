//===- Describe.h - products on a processor's tiles (AMX), for those who describe them ===//
#ifndef DLC_RUNTIME_LIBRARY_TILES_DESCRIBE_H
#define DLC_RUNTIME_LIBRARY_TILES_DESCRIBE_H

#include "runtime/library/products/Product.h"
#include "runtime/library/tiles/Kernel.h"

namespace dlc::tiles {

/// Whether this machine has tiles and the system lets us use them.
DLC_EXPORT bool available();

/// "parts" of a description. Throws dlc::Error.
int partsOf(const describe::Fields &fields);

/// Products of f32 as sums of products of bf16 parts: 1, 2 or 3. Those of bf16 have one.
DLC_EXPORT products::Form formOf(int parts);
/// Those of a product's description. Throws dlc::Error.
DLC_EXPORT products::Form formOf(const nlohmann::json &desc);

/// A right operand of [k, n] as tiles want it, made once.
DLC_EXPORT uint64_t packedBytes(int64_t k, int64_t n, int parts);
DLC_EXPORT void packWeights(const float *b, int64_t rowStride, int64_t columnStride, int64_t k,
                            int64_t n, int parts, void *packed);

inline int64_t blocks(int64_t n) { return (n + kBlock - 1) / kBlock; }

} // namespace dlc::tiles

#endif // DLC_RUNTIME_LIBRARY_TILES_DESCRIBE_H
