//===- Operands.h - a product's buffers, checked, and what lies where in them ----===//
#ifndef DLC_RUNTIME_LIBRARY_PRODUCTS_OPERANDS_H
#define DLC_RUNTIME_LIBRARY_PRODUCTS_OPERANDS_H

#include "runtime/library/products/Product.h"

namespace dlc::products {

/// Addresses of one product of a batch.
struct One {
  const float *a = nullptr, *b = nullptr;
  float *dst = nullptr;
  Epilogue epilogue;
  int64_t row = 0; ///< of the changed operand's first element
  Prologue prologue;
  float *sums = nullptr;
};

class Operands {
public:
  /// Throws dlc::Error.
  Operands(Product described, std::span<const runtime::BufferInfo> buffers);

  One at(int64_t index, void *const *buffers) const;

  Product product;
  int64_t count = 1; ///< of the batch
};

} // namespace dlc::products

#endif // DLC_RUNTIME_LIBRARY_PRODUCTS_OPERANDS_H
