//===- Describe.h - products by weights in blocks, seen from the compiler ----------===//
#ifndef DLC_RUNTIME_LIBRARY_BLOCKS_DESCRIBE_H
#define DLC_RUNTIME_LIBRARY_BLOCKS_DESCRIBE_H

#include "runtime/library/blocks/Kernels.h"
#include "runtime/library/products/Product.h"

namespace dlc::blocks {

/// Columns of a panel of weights here: 16 with AVX-512 and VNNI, 8 with AVX2 and FMA; otherwise 0.
DLC_EXPORT int64_t lanes();
/// So many rows are multiplied by weights of eight bits about as fast as by those in f32, or
/// faster: with AVX2 each step of a row costs several of f32. 0 without kernels.
DLC_EXPORT int64_t mostRows();

/// Constant weights [n, k] in blocks along k, with a scale for each, and a zero point or none.
struct Plain {
  int64_t n = 0, blocks = 0, depth = 0;
  const int8_t *numbers = nullptr; ///< [n, blocks, depth], padded with anything
  const float *scales = nullptr;   ///< [n, blocks]
  const float *zeros = nullptr;    ///< [n, blocks], whole numbers; null: none

  /// Of each number: 4 or 8.
  DLC_EXPORT int64_t bits() const;
  /// The zero point of all, or nothing: each block has its own.
  DLC_EXPORT std::optional<int64_t> sharedZero() const;
};

/// What the description of a product (describe/Product.h) has beside that of one by packed weights:
///
///   {.., "lanes": 16, "bits": 4 or 8, "block": depth of a block, "digits": 1 to 3,
///    "zeros": each block has a zero point, "shift": what is added to all weights otherwise}
///
/// and on tiles "parts", 1 to 3, of the other operand.
DLC_EXPORT nlohmann::json parametersOf(const Plain &plain, int64_t lanes, int64_t digits);

DLC_EXPORT uint64_t packedBytes(const Plain &plain, const nlohmann::json &parameters);
DLC_EXPORT void packWeights(const Plain &plain, const nlohmann::json &parameters, void *packed);

constexpr const char *kTilesName = "blocks:tiles";
/// Whether tiles here multiply by blocks of that depth.
DLC_EXPORT bool hasTilesFor(int64_t depth);
/// Rows that pass over weights together there, a multiple of 32.
DLC_EXPORT int64_t rowsOnTiles(int64_t k, int64_t parts);

/// Throws dlc::Error.
DLC_EXPORT Shape shapeOf(const nlohmann::json &desc);
DLC_EXPORT products::Form formOf(const Shape &shape, int64_t lanes);
void checkDescription(const describe::Fields &fields, const products::Product &product);
std::unique_ptr<runtime::LibraryCall> makeTilesCall(const nlohmann::json &desc,
                                                    std::span<const runtime::BufferInfo> buffers,
                                                    int threads);

} // namespace dlc::blocks

#endif // DLC_RUNTIME_LIBRARY_BLOCKS_DESCRIBE_H
