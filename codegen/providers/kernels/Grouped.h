//===- Grouped.h - grouped matmuls as calls of dlc's own kernels ----------===//
#ifndef DLC_CODEGEN_PROVIDERS_KERNELS_GROUPED_H
#define DLC_CODEGEN_PROVIDERS_KERNELS_GROUPED_H

#include "codegen/providers/kernels/MatmulCall.h"
#include "runtime/library/products/Product.h"

namespace dlc {

inline bool isGrouped(mlir::Operation *op) {
  return llvm::isa<GroupedMatmulOp, GroupedWeightGradOp>(op);
}

/// Describes a grouped matmul, or its weight gradient, as a call of `kernel`. If `config` is given
/// and its kernel cannot read constant matrices in place, they are packed during lowering. If
/// `config` is null, matrices are never packed.
std::optional<LibraryCall> groupedProduct(mlir::Operation *op, const MatmulKernel &kernel,
                                          const products::KernelConfig *config,
                                          const Refusal &refuse);

/// Returns true if each call of the described matmul packs its matrices.
bool mustPackMatrices(const schema::Grouped &fields, const products::KernelConfig &config);

/// Average number of rows of a non-empty group, if the rows are distributed evenly over the groups.
double getRowsPerGroup(const schema::Grouped &fields);

} // namespace dlc
#endif
