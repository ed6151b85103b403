//===- Describe.h - products of f32 in a processor's vectors ------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_VECTORS_DESCRIBE_H
#define DLC_RUNTIME_LIBRARY_VECTORS_DESCRIBE_H

#include "runtime/library/products/Product.h"

namespace dlc::vectors {

/// Numbers in a vector here: 16 with AVX-512, 8 with AVX2 and FMA, otherwise 0. What limits oneDNN
/// to AVX2 limits this, too.
DLC_EXPORT int64_t lanes();

/// Up to so many columns, rows of the left operand are walked along where they lie: packing them
/// would cost more.
constexpr int64_t kFewColumns = 640;

/// Products with `rows` rows in vectors of 16 or 8 numbers. Throws dlc::Error.
DLC_EXPORT products::Form formOf(int64_t lanes, int64_t rows);
DLC_EXPORT products::Form formOf(const nlohmann::json &desc);
/// Of groups of rows (products/Grouped.h).
DLC_EXPORT products::Form groupedForm(int64_t lanes);

/// A right operand of [k, n] in blocks of two vectors of columns, made once.
DLC_EXPORT uint64_t packedBytes(int64_t k, int64_t n, int64_t lanes);
DLC_EXPORT void packWeights(const float *b, int64_t rowStride, int64_t columnStride, int64_t k,
                            int64_t n, int64_t lanes, void *packed);

} // namespace dlc::vectors

#endif // DLC_RUNTIME_LIBRARY_VECTORS_DESCRIBE_H
