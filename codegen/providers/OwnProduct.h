//===- OwnProduct.h - products of f32 by kernels of our own ----------------===//
//
// What providers of runtime/library/products have in common: on tiles and in vectors.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_PROVIDERS_OWNPRODUCT_H
#define DLC_CODEGEN_PROVIDERS_OWNPRODUCT_H

#include "codegen/providers/Product.h"

namespace dlc {

/// What differs between them.
struct OwnKernel {
  const char *library; ///< of the runtime
  std::string implementation;
  /// Of the description, beside the product.
  nlohmann::json parameters;
  /// Batches of a call, and elements of its right operand that it packs.
  double batchesOf(const LibraryCall &call);
  double packedRight(const LibraryCall &call);

  /// Constant weights of [k, n] (`turned`: of [n, k]) in the kernel's order; null: as rows.
  std::function<CallArgument(const ref::Tensor &plain, bool turned, int64_t k, int64_t n)> pack;
  /// Whether operands are changed while they are packed.
  bool makesOperands = false;
};

/// A product that may run as its transposition: of [m, n], k deep, in one batch or more.
struct OwnSizes {
  int64_t m, n, k;
  bool isTurned, isBatch;
};

/// The product as a call; `takes` says of the sizes why not.
std::optional<LibraryCall> ownProduct(const Product &product, const OwnKernel &kernel,
                                      llvm::function_ref<bool(const OwnSizes &)> takes,
                                      const Refusal &no);

/// Batches of a call, and elements of its right operand that it packs.
double batchesOf(const LibraryCall &call);
double packedRight(const LibraryCall &call);

/// Whether our own products have these steps after a sum of k products.
bool takesSteps(const nlohmann::json &steps, int64_t k);

/// Constant weights of [k, n] (`turned`: of [n, k]) in `bytes` that pack(from, row stride, column
/// stride, to) fills; `layout` names kernel and form.
CallArgument packedMatrix(const ref::Tensor &plain, bool turned, int64_t k, int64_t n,
                          uint64_t bytes, llvm::StringRef layout, int64_t form,
                          std::function<void(const float *, int64_t, int64_t, void *)> pack);
/// The same as they are, [k, n].
CallArgument plainMatrix(const ref::Tensor &plain, bool turned, int64_t k, int64_t n);

} // namespace dlc
#endif
