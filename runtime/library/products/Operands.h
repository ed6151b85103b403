//===- Operands.h - checked buffers and operand addresses of a matrix product -===//
#ifndef DLC_RUNTIME_LIBRARY_PRODUCTS_OPERANDS_H
#define DLC_RUNTIME_LIBRARY_PRODUCTS_OPERANDS_H

#include "runtime/library/products/Product.h"

namespace dlc::products {

/// Operand and result addresses of one matmul of a batch, with its epilogue and prologue.
struct One {
  const float *a = nullptr, *b = nullptr;
  float *dst = nullptr;
  Epilogue epilogue;
  int64_t row = 0; ///< first row of this matmul in the operand that the prologue changes
  Prologue prologue;
  float *sums = nullptr;
};

class Operands {
public:
  /// Checks that this machine supports the kernel and that the buffers match the description.
  /// Throws dlc::Error.
  Operands(MatmulDesc described, std::span<const runtime::BufferInfo> buffers);

  One at(int64_t index, void *const *buffers) const;

  MatmulDesc product;
  int64_t count = 1; ///< number of matmuls in the batch
};

} // namespace dlc::products

#endif // DLC_RUNTIME_LIBRARY_PRODUCTS_OPERANDS_H
