//===- Grouped.h - grouped matmuls and their gradients --------------------===//
#ifndef DLC_RUNTIME_LIBRARY_PRODUCTS_GROUPED_H
#define DLC_RUNTIME_LIBRARY_PRODUCTS_GROUPED_H

#include "runtime/library/describe/Grouped.h"
#include "runtime/library/products/Product.h"

namespace dlc::products {

/// Creates a call of the grouped matmul that describe/Grouped.h describes. Elements are f32, or
/// bf16 if `config` supports it. The matrices may be packed by packMatrices. Throws dlc::Error.
std::unique_ptr<runtime::LibraryCall> makeGrouped(const nlohmann::json &desc,
                                                  const KernelConfig &config,
                                                  std::span<const runtime::BufferInfo> buffers,
                                                  int threads);

/// Returns true if the kernel reads transposed matrices ("columns") in place, because packing them
/// would not be faster. The matrices must be bf16 and consist of whole blocks.
DLC_EXPORT bool canReadColumnsInPlace(const KernelConfig &config, DType dtype, int64_t k,
                                      int64_t n);

/// Packs `groups` contiguous matrices of [k, n] (if `transposed`: of [n, k]) into the layout of the
/// grouped matmul. Each packed matrix takes config.packedBytes(k, n) bytes.
DLC_EXPORT void packMatrices(const KernelConfig &config, const void *from, DType dtype,
                             bool transposed, int64_t groups, int64_t k, int64_t n, void *to);

} // namespace dlc::products

#endif // DLC_RUNTIME_LIBRARY_PRODUCTS_GROUPED_H
