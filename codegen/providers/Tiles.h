//===- Tiles.h - what calls of the tiles' kernels have in common ----------===//
#ifndef DLC_CODEGEN_PROVIDERS_TILES_H
#define DLC_CODEGEN_PROVIDERS_TILES_H

#include "codegen/providers/Cost.h"
#include "codegen/providers/LibraryCall.h"
#include "codegen/providers/Refusal.h"
#include "ir/tensor/Tensor.h"

namespace dlc::tiles_desc {

/// tiles:bf16x3 for two parts, tiles:bf16x6 for three.
const char *implementationOf(int parts);

/// Constant weights of [k, n] (`turned`: of [n, k]) as tiles want them, made when lowering.
CallArgument packedWeights(const ref::Tensor &plain, bool turned, int64_t k, int64_t n, int parts);

/// A convolution or its gradient by the data; by its weights, where the window is one pixel.
std::optional<LibraryCall> convolution(FusionOp fusion, int parts, const Refusal &no);

/// Nanoseconds of those.
double windowTime(const LibraryCall &call, const CostModel &cost);
double gradientTime(const LibraryCall &call, const CostModel &cost);

} // namespace dlc::tiles_desc
#endif
