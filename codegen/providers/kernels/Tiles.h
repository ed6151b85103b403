//===- Tiles.h - common parts of the kernels on AMX tiles -----------------===//
#ifndef DLC_CODEGEN_PROVIDERS_KERNELS_TILES_H
#define DLC_CODEGEN_PROVIDERS_KERNELS_TILES_H

#include "codegen/providers/Cost.h"
#include "codegen/providers/LibraryCall.h"
#include "codegen/providers/Refusal.h"
#include "ir/tensor/Tensor.h"

namespace dlc::tiles_desc {

/// Returns the implementation name of kernels that split f32 values into bf16 parts: "tiles:bf16x3"
/// for two parts, "tiles:bf16x6" for three.
const char *implementationOf(int parts);

/// Returns an argument for constant weights [k, n] ([n, k] if `transposed`), which are packed in
/// AMX tile order during lowering.
CallArgument packedWeights(const ref::Tensor &plain, bool transposed, int64_t k, int64_t n,
                           int parts);

/// Describes a convolution or one of its gradients as a call on AMX tiles. An f32 weight gradient
/// requires a 1x1 window.
std::optional<LibraryCall> describeTilesConvolution(FusionOp fusion, int parts,
                                                    const Refusal &refuse);

/// Estimated nanoseconds of a convolution (estimateWindowTime) and of a bf16 weight gradient
/// (estimateGradientTime).
double estimateWindowTime(const LibraryCall &call, const CostModel &cost);
double estimateGradientTime(const LibraryCall &call, const CostModel &cost);

} // namespace dlc::tiles_desc
#endif
