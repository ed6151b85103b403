//===- Grouped.h - groups of rows, each times a matrix of its own ------------------===//
#ifndef DLC_RUNTIME_LIBRARY_PRODUCTS_GROUPED_H
#define DLC_RUNTIME_LIBRARY_PRODUCTS_GROUPED_H

#include "runtime/library/describe/Grouped.h"
#include "runtime/library/products/Product.h"

namespace dlc::products {

/// A call of describe/Grouped.h, of f32 or, where the form takes it, bf16; matrices may be packed
/// by packMatrices. Throws dlc::Error.
std::unique_ptr<runtime::LibraryCall> makeGrouped(const nlohmann::json &desc, const Form &form,
                                                  std::span<const runtime::BufferInfo> buffers,
                                                  int threads);

/// Whether columns are read where they lie, and packing them would gain nothing.
DLC_EXPORT bool readsColumns(const Form &form, DType dtype, int64_t k, int64_t n);

/// Matrices of [k, n] one behind the other (`turned`: of [n, k]) as such a product wants them, each
/// in form.packedBytes(k, n).
DLC_EXPORT void packMatrices(const Form &form, const void *from, DType dtype, bool turned,
                             int64_t groups, int64_t k, int64_t n, void *to);

} // namespace dlc::products

#endif // DLC_RUNTIME_LIBRARY_PRODUCTS_GROUPED_H
