//===- Grouped.h - products of groups of rows, as calls of our own kernels ---===//
#ifndef DLC_CODEGEN_PROVIDERS_GROUPED_H
#define DLC_CODEGEN_PROVIDERS_GROUPED_H

#include "codegen/providers/OwnProduct.h"
#include "runtime/library/products/Product.h"

namespace dlc {

inline bool isGrouped(mlir::Operation *op) {
  return llvm::isa<GroupedMatmulOp, GroupedWeightGradOp>(op);
}

/// By kernels of this form, which packs constant matrices when lowering unless it reads them where
/// they lie; without `form` nobody packs.
std::optional<LibraryCall> groupedProduct(mlir::Operation *op, const OwnKernel &kernel,
                                          const products::Form *form, const Refusal &no);

/// Whether a product packs its matrices in each call.
bool packsMatrices(const nlohmann::json &desc, const products::Form &form);

/// Rows of a group that has any, where rows are spread over all groups.
double groupedRows(const LibraryCall &call);

} // namespace dlc
#endif
