//===- Grouped.h - grouped matmuls as calls of dlc's own kernels ----------===//
#ifndef DLC_CODEGEN_PROVIDERS_GROUPED_H
#define DLC_CODEGEN_PROVIDERS_GROUPED_H

#include "codegen/providers/MatmulCall.h"
#include "runtime/library/products/Product.h"

namespace dlc {

inline bool isGrouped(mlir::Operation *op) {
  return llvm::isa<GroupedMatmulOp, GroupedWeightGradOp>(op);
}

/// Describes a grouped matmul, or its weight gradient, as a call of `kernel`. Constant matrices are
/// packed during lowering if `config` is given and cannot read them in place. If `config` is null,
/// matrices are never packed.
std::optional<LibraryCall> groupedProduct(mlir::Operation *op, const MatmulKernel &kernel,
                                          const products::KernelConfig *config,
                                          const Refusal &refuse);

/// Returns true if the matmul packs its matrices in every call.
bool packsMatrices(const nlohmann::json &desc, const products::KernelConfig &config);

/// Average number of rows of a non-empty group if the rows are distributed over all groups.
double groupedRows(const LibraryCall &call);

} // namespace dlc
#endif
