//===- OwnConvolution.h - convolutions by our own kernels in vectors ------===//
//
// What runtime/library/winograd and runtime/library/direct have in common: images, and what happens
// to results.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_PROVIDERS_OWNCONVOLUTION_H
#define DLC_CODEGEN_PROVIDERS_OWNCONVOLUTION_H

#include "codegen/providers/LibraryCall.h"
#include "codegen/providers/Refusal.h"
#include "passes/fuse/Epilogue.h"

namespace dlc::own_convolution {

/// Sizes of a sequence as those of an image of one row: `row` comes before the last. Images' stay.
std::vector<int64_t> withRow(llvm::ArrayRef<int64_t> sizes, bool isSequence, int64_t row);

/// src, dst, block and channels_last of a description: images or sequences of f32 in whole blocks
/// of channels.
std::optional<nlohmann::json> images(mlir::Value x, mlir::Value y, const Refusal &no);

/// The steps of a description; nothing where one of them has no such step.
std::optional<nlohmann::json> steps(const Epilogue &epilogue, mlir::RankedTensorType result,
                                    const Refusal &no);

/// The bias where there is one, the steps' operands and the fusion's results.
void addEpilogue(LibraryCall &call, FusionOp fusion, const Epilogue &epilogue, mlir::Value bias,
                 const nlohmann::json &steps);

} // namespace dlc::own_convolution
#endif
