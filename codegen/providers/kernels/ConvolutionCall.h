//===- ConvolutionCall.h - convolutions by dlc's own vector kernels -------===//
//
// Common parts of runtime/library/winograd and runtime/library/direct: the description of images
// and of epilogues. These kernels support only full blocks of channels. A blocked layout stores the
// missing channels of the last block as zeros. Constants are zero-padded when they are packed, so
// that the padding channels of the result are zero again.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_PROVIDERS_KERNELS_CONVOLUTIONCALL_H
#define DLC_CODEGEN_PROVIDERS_KERNELS_CONVOLUTIONCALL_H

#include "codegen/providers/LibraryCall.h"
#include "codegen/providers/Refusal.h"
#include "passes/fuse/epilogue/Epilogue.h"
#include "runtime/library/schema/Schema.h"

namespace dlc::convolution_call {

/// Converts the sizes of a 1-D sequence to those of a 2-D image with one row, by inserting `row`
/// before the last size. Sizes of images are returned unchanged.
std::vector<int64_t> insertRowDim(llvm::ArrayRef<int64_t> sizes, bool isSequence, int64_t row);

/// Images of a convolution's description.
struct Images {
  int64_t block; ///< channels per block
  std::vector<int64_t> src, dst;
  bool channelsLast;

  template <typename Record> void setIn(Record &record) const {
    record.block = block;
    record.src = src;
    record.dst = dst;
    record.channelsLast = channelsLast;
  }
};

/// Describes the images of a convolution from `x` to `y`, which are f32 images or sequences in
/// blocks of channels. If `filled`, the last block of channels may be zero-padded; otherwise the
/// number of channels must be a multiple of the block.
std::optional<Images> describeImages(mlir::Value x, mlir::Value y, bool filled,
                                     const Refusal &refuse);

/// Weights whose first two dimensions are zero-padded to `first` and `second`, where these are
/// larger.
class PaddedWeights {
public:
  PaddedWeights(const ref::Tensor &weights, int64_t first, int64_t second);
  const float *data() const { return at; }

private:
  std::vector<float> filled;
  const float *at;
};

/// Describes the epilogue ops of a convolution with `filled` channels. Returns
/// std::nullopt if an op is unsupported, or if padded channels would not remain zero. With padded
/// channels, operands with one element per channel must be constant.
std::optional<std::vector<schema::ConvolutionStep>> steps(const Epilogue &epilogue, FusionOp fusion,
                                                          int64_t filled, mlir::Value bias,
                                                          const Refusal &refuse);

/// Adds the bias (if not null), the operands of the epilogue and the fusion's results to the call.
/// Operands with one element per channel are zero-padded to `filled` channels.
void addEpilogue(LibraryCall &call, FusionOp fusion, const Epilogue &epilogue, mlir::Value bias,
                 const std::vector<schema::ConvolutionStep> &steps, int64_t filled);

} // namespace dlc::convolution_call
#endif
