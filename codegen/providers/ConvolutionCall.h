//===- ConvolutionCall.h - convolutions by dlc's own vector kernels -------===//
//
// Common parts of runtime/library/winograd and runtime/library/direct: the description of images
// and of epilogues. These kernels support only whole blocks of channels. A blocked layout stores
// the missing channels of the last block as zeros. Constants are zero-padded when they are packed,
// so that the padding channels of the result are zero again.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_PROVIDERS_CONVOLUTIONCALL_H
#define DLC_CODEGEN_PROVIDERS_CONVOLUTIONCALL_H

#include "codegen/providers/LibraryCall.h"
#include "codegen/providers/Refusal.h"
#include "passes/fuse/Epilogue.h"

namespace dlc::convolution_call {

/// Sizes of a 1-D sequence as those of a 2-D image with one row: inserts `row` before the last
/// size. Sizes of images are returned unchanged.
std::vector<int64_t> withRow(llvm::ArrayRef<int64_t> sizes, bool isSequence, int64_t row);

/// Returns src, dst, block and channels_last of a description, for f32 images or sequences in
/// blocks of channels. If `filled`, the last block of channels may be zero-padded; otherwise
/// channels must be a multiple of the block.
std::optional<nlohmann::json> images(mlir::Value x, mlir::Value y, bool filled,
                                     const Refusal &refuse);

/// Weights with their first two dimensions zero-padded to `first` and `second`, where these are
/// larger.
class FilledWeights {
public:
  FilledWeights(const ref::Tensor &weights, int64_t first, int64_t second);
  const float *data() const { return at; }

private:
  std::vector<float> filled;
  const float *at;
};

/// Returns the epilogue of a description. Returns std::nullopt if an op is unsupported, or if
/// padded channels would not remain zero; operands with one element per channel must then be
/// constant.
std::optional<nlohmann::json> steps(const Epilogue &epilogue, FusionOp fusion,
                                    const nlohmann::json &desc, mlir::Value bias,
                                    const Refusal &refuse);

/// Adds the bias (if not null), the operands of the epilogue and the fusion's results to the call.
void addEpilogue(LibraryCall &call, FusionOp fusion, const Epilogue &epilogue, mlir::Value bias,
                 const nlohmann::json &steps);

} // namespace dlc::convolution_call
#endif
