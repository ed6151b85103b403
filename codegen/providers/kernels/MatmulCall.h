//===- MatmulCall.h - f32 matmuls by dlc's own kernels --------------------===//
//
// Common parts of the providers that use runtime/library/products: matmuls on AMX tiles and in
// vector registers.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_PROVIDERS_KERNELS_MATMULCALL_H
#define DLC_CODEGEN_PROVIDERS_KERNELS_MATMULCALL_H

#include "codegen/providers/Product.h"
#include "runtime/library/schema/Schema.h"

namespace dlc {

/// Properties in which dlc's own matmul kernels (AMX tiles, vectors) differ.
struct MatmulKernel {
  const char *library; ///< name of the runtime library
  std::string implementation;
  /// Kernel parameters to add to the call's JSON description.
  nlohmann::json parameters;
  /// Packs constant weights [k, n] ([n, k] if `transposed`) in the kernel's order. If null, weights
  /// are stored row-major.
  std::function<CallArgument(const ref::Tensor &plain, bool transposed, int64_t k, int64_t n)> pack;
  /// Whether the kernel can compute an operand while packing it (a fused prologue).
  bool fusesPrologue = false;
};

/// Sizes of a matmul with result [m, n] and reduction dimension k. `isTransposed`: the kernel
/// computes the transposed result. `isBatch`: the matmul has batch dimensions.
struct MatmulSizes {
  int64_t m, n, k;
  bool isTransposed, isBatch;
};

/// Describes the matmul `product` as a call of `kernel`. `supports` checks the sizes and, if it
/// returns false, reports the reason.
std::optional<LibraryCall> matmulCall(const MatmulDescription &product, const MatmulKernel &kernel,
                                      llvm::function_ref<bool(const MatmulSizes &)> supports,
                                      const Refusal &refuse);

/// Number of matmuls in the batch of a call (countBatches), and number of right-operand elements
/// that are packed in each call (countPackedRightElements).
double countBatches(const schema::Product &product);
double countPackedRightElements(const schema::Product &product);

/// Returns true if dlc's own matmul kernels support these epilogue ops after a matmul with
/// reduction dimension k; otherwise reports the reason.
bool supportsEpilogue(llvm::ArrayRef<EpilogueStep> steps, int64_t k, const Refusal &refuse);

/// Returns an argument of `bytes` for constant weights [k, n] ([n, k] if `transposed`), which
/// pack(from, row stride, column stride, to) writes. `layout` and `format` identify the kernel and
/// its packed format.
CallArgument packedMatrix(const ref::Tensor &plain, bool transposed, int64_t k, int64_t n,
                          uint64_t bytes, llvm::StringRef layout, int64_t format,
                          std::function<void(const float *, int64_t, int64_t, void *)> pack);
/// Returns an argument for constant weights [k, n] ([n, k] if `transposed`) as an unpacked,
/// row-major [k, n].
CallArgument packRowMajor(const ref::Tensor &plain, bool transposed, int64_t k, int64_t n);

} // namespace dlc
#endif
