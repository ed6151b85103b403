//===- OwnConvolution.h - convolutions by our own kernels in vectors ------===//
//
// What runtime/library/winograd and runtime/library/direct have in common: images, and what happens
// to results. Kernels know whole blocks of channels alone. In a blocked layout the last block's
// missing channels are there as zeros; constants are filled up when they are packed, and what
// comes out are zeros again.
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

/// src, dst, block and channels_last of a description: images or sequences of f32 in blocks of
/// channels, of which the last ones may be `filled` up with zeros; in whole blocks otherwise.
std::optional<nlohmann::json> images(mlir::Value x, mlir::Value y, bool filled, const Refusal &no);

/// Weights with their first two dimensions filled up with zeros to `first` and `second`, where they
/// are not so many.
class FilledWeights {
public:
  FilledWeights(const ref::Tensor &weights, int64_t first, int64_t second);
  const float *data() const { return at; }

private:
  std::vector<float> filled;
  const float *at;
};

/// The steps of a description; nothing where one of them has no such step, or where channels that
/// are filled up would not stay zeros: what goes to each channel is a constant there.
std::optional<nlohmann::json> steps(const Epilogue &epilogue, FusionOp fusion,
                                    const nlohmann::json &desc, mlir::Value bias,
                                    const Refusal &no);

/// The bias where there is one, the steps' operands and the fusion's results.
void addEpilogue(LibraryCall &call, FusionOp fusion, const Epilogue &epilogue, mlir::Value bias,
                 const nlohmann::json &steps);

} // namespace dlc::own_convolution
#endif
