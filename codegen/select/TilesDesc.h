//===- TilesDesc.h - what calls of the tiles' kernels have in common ------===//
#ifndef DLC_CODEGEN_SELECT_TILESDESC_H
#define DLC_CODEGEN_SELECT_TILESDESC_H

#include "codegen/select/LibraryCall.h"
#include "codegen/select/Refusal.h"
#include "ir/reference/Tensor.h"

namespace dlc::tiles_desc {

using nlohmann::json;

inline mlir::RankedTensorType typeOf(mlir::Value v) {
  return llvm::cast<mlir::RankedTensorType>(v.getType());
}

/// tiles:bf16x3 for two parts, tiles:bf16x6 for three.
const char *implementationOf(int parts);

/// Constant weights of [k, n] (`crossed`: of [n, k]) as tiles want them, made when lowering.
CallArgument packedWeights(const ref::Tensor &plain, bool crossed, int64_t k, int64_t n, int parts);

/// Whether our own products have these steps after a sum of k products.
bool takesSteps(const json &steps, int64_t k);

/// A convolution or its gradient by the data; by its weights, where the window is one pixel.
std::optional<LibraryCall> convolution(FusionOp fusion, int parts, const Refusal &no);

} // namespace dlc::tiles_desc
#endif
