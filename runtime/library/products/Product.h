//===- Product.h - f32 matrix products: description, kernels and calls ----===//
#ifndef DLC_RUNTIME_LIBRARY_PRODUCTS_PRODUCT_H
#define DLC_RUNTIME_LIBRARY_PRODUCTS_PRODUCT_H

#include "dlc/Export.h"
#include "runtime/library/Library.h"
#include "runtime/library/describe/Product.h"
#include "runtime/library/products/Panel.h"

namespace dlc::products {

/// Unpacked part of a matmul operand: `lanes` rows of the left operand or columns of the right
/// operand, with `depths` elements of the reduction dimension each. `lane` and `depth` are strides
/// in elements.
template <typename T> struct OperandOf {
  const T *from = nullptr;
  int64_t lane = 0, depth = 0, lanes = 0, depths = 0;
};
using Operand = OperandOf<float>;
/// Operand of bf16 bit patterns; one of its strides is 1.
using NarrowOperand = OperandOf<uint16_t>;

/// Block sizes, packing functions and kernels of a matmul implementation.
struct DLC_EXPORT KernelConfig {
  std::string name;
  int64_t rows = 0, columns = 0, depth = 0; ///< rows and columns of a block; depth of a step
  int64_t leftBytes = 0, rightBytes = 0;    ///< bytes of one packed step of a block
  int parts = 0;                            ///< bf16 parts per f32 value on tiles; 0 for vectors
  int64_t depthAtOnce = 512;  ///< depth that is summed in one pass, so that panels fit the L2 cache
  bool anyRows = false;       ///< blocks of a left operand may have fewer than `rows` rows
  int64_t fewColumns = 0;     ///< maximum number of columns for which left rows are read in place
  bool (*isHere)() = nullptr; ///< returns true if this machine supports the configuration
  void (*packLeft)(const KernelConfig &, const Operand &, const PackPosition &, void *to) = nullptr;
  void (*packRight)(const KernelConfig &, const Operand &, const PackPosition &,
                    void *to) = nullptr;
  /// Packing functions for bf16 operands, or null if the configuration does not support bf16.
  /// `narrow` rounds f32 sums to bf16.
  void (*packLeftNarrow)(const KernelConfig &, const NarrowOperand &, void *to) = nullptr;
  void (*packRightNarrow)(const KernelConfig &, const NarrowOperand &, void *to) = nullptr;
  Narrow narrow = nullptr;
  void (*multiply)(const PanelArguments &, const Epilogue &) = nullptr;
  void (*multiplyInPlace)(const InPlaceMatmul &) =
      nullptr;                             ///< requires full column blocks and full steps
  const StrassenTable *strassen = nullptr; ///< null if Strassen's algorithm is not supported
  void (*enter)() = nullptr, (*leave)() = nullptr; ///< before and after a thread's multiply calls

  /// Returns the size of a packed right operand of shape [k, n], in bytes.
  uint64_t packedBytes(int64_t k, int64_t n) const;
};

inline int64_t upTo(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }
inline int64_t blocksOf(int64_t n, int64_t unit) { return (n + unit - 1) / unit; }

/// Matmul with the choice of its kernel. If k > kSummedDepth, a "sum" must be the only post-op,
/// with a scale of 1.
struct DLC_EXPORT MatmulDesc : describe::MatmulDesc {
  KernelConfig config;
  bool isStrassen = false;

  /// Checks the description of a matmul that runs with the kernels of `config`. `strassen`: by
  /// Strassen's algorithm. Throws dlc::Error.
  MatmulDesc(const schema::Product &fields, const KernelConfig &config, bool strassen = false);
};

/// Minimum number of rows for Strassen's algorithm. With fewer rows, the blocks of each half may
/// have a size without a kernel.
constexpr int64_t kStrassenRows = 28;

/// Maximum number of columns of a panel in the L2 cache.
constexpr int64_t kColumnsAtOnce = 2048;

/// Size of the reduction dimension up to which every kernel configuration sums in one pass.
constexpr int64_t kSummedDepth = 512;

/// Returns the maximum number of columns of a packed panel of the right operand, for a reduction
/// dimension of size k. If the matmul has no more columns, each thread packs its own rows.
DLC_EXPORT int64_t panelColumns(const KernelConfig &config, int64_t k);

/// Creates the call of a matmul from its description. Throws dlc::Error if the description or a
/// buffer is invalid.
std::unique_ptr<runtime::LibraryCall> makeProduct(const schema::Product &desc,
                                                  const KernelConfig &config, bool strassen,
                                                  std::span<const runtime::BufferInfo> buffers,
                                                  int threads);

} // namespace dlc::products

#endif // DLC_RUNTIME_LIBRARY_PRODUCTS_PRODUCT_H
