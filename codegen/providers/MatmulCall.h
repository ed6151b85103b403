//===- MatmulCall.h - f32 matmuls by dlc's own kernels --------------------===//
//
// Common parts of the providers that use runtime/library/products: on AMX tiles and in vectors.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_PROVIDERS_MATMULCALL_H
#define DLC_CODEGEN_PROVIDERS_MATMULCALL_H

#include "codegen/providers/Product.h"

namespace dlc {

/// Properties that differ between these kernels.
struct MatmulKernel {
  const char *library; ///< name of the runtime library
  std::string implementation;
  /// Parameters to add to the call's description.
  nlohmann::json parameters;
  /// Packs constant weights [k, n] ([n, k] if `transposed`) in the kernel's order. If null,
  /// weights are stored by rows.
  std::function<CallArgument(const ref::Tensor &plain, bool transposed, int64_t k, int64_t n)> pack;
  /// Whether the kernel can compute operands while packing them.
  bool fusesPrologue = false;
};

/// Sizes of a matmul with results [m, n] and sums over k. `isTransposed`: it is executed as its
/// transposition. `isBatch`: it has batch dimensions.
struct MatmulSizes {
  int64_t m, n, k;
  bool isTransposed, isBatch;
};

/// Describes the product as a call of `kernel`. `supports` checks the sizes and reports why they
/// are refused.
std::optional<LibraryCall> matmulCall(const Product &product, const MatmulKernel &kernel,
                                      llvm::function_ref<bool(const MatmulSizes &)> supports,
                                      const Refusal &refuse);

/// Number of matmuls in a call's batch, and number of right-operand elements that each call packs.
double batchesOf(const LibraryCall &call);
double packedRight(const LibraryCall &call);

/// Returns true if dlc's own matmul kernels support this epilogue after a sum of k products.
bool supportsEpilogue(const nlohmann::json &steps, int64_t k);

/// Constant weights [k, n] ([n, k] if `transposed`) in a buffer of `bytes`, which pack(from,
/// row stride, column stride, to) writes. `layout` and `format` identify the kernel and its packed
/// format.
CallArgument packedMatrix(const ref::Tensor &plain, bool transposed, int64_t k, int64_t n,
                          uint64_t bytes, llvm::StringRef layout, int64_t format,
                          std::function<void(const float *, int64_t, int64_t, void *)> pack);
/// The same weights unpacked, as a row-major [k, n].
CallArgument plainMatrix(const ref::Tensor &plain, bool transposed, int64_t k, int64_t n);

} // namespace dlc
#endif
