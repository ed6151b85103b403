//===- WindowShape.h - windows that slide over images, and blocks of their results ---===//
#ifndef DLC_CODEGEN_CUDA_WINDOWS_WINDOWSHAPE_H
#define DLC_CODEGEN_CUDA_WINDOWS_WINDOWSHAPE_H

#include "codegen/cuda/Plan.h"

namespace dlc::cuda {

constexpr int64_t kThreads = 256, kMinThreads = 64;
/// Maximum number of channels per group. Convolutions with more channels per group are computed as
/// tiled contractions.
constexpr int64_t kMaxChannels = 8;
/// Maximum number of elements of a window, and maximum number of unrolled multiply-adds.
constexpr int64_t kMaxPlaces = 64, kMaxTerms = 1024;
/// Maximum number of adjacent results that a thread computes along the last dimension.
constexpr int64_t kMaxAlong = 8;
/// Maximum number of elements of an image that is read through shared memory, and maximum bytes of
/// shared memory for all such images of a thread block.
constexpr int64_t kSmallImage = 1024, kSharedBytes = 40 << 10;
/// Number of adjacent channels that a thread computes in channels-last layouts. Convolutions whose
/// windows have more than kFewPlaces elements use half of it, because their weights occupy many
/// registers.
constexpr int64_t kChannels = 4, kFewPlaces = 16;

/// One spatial dimension of windows: its blocks of results, and the input positions that they read.
struct WindowAxis {
  int64_t size = 1, image = 1; ///< number of results and of input positions along the axis
  int64_t window = 1, stride = 1, dilation = 1, low = 0;
  bool transposed = false;
  int64_t block = 1;           ///< number of results along the axis that a thread computes
  int64_t first = 0, last = 0; ///< range of input positions of a block, relative to index * step()

  int64_t blocks() const { return (size + block - 1) / block; }
  int64_t step() const { return transposed ? block / stride : block * stride; }
  /// Returns the input position, relative to the block, that element `k` of the window of result
  /// `i` reads. Returns nothing if it reads no input.
  std::optional<int64_t> place(int64_t i, int64_t k) const {
    int64_t at = i * stride + k * dilation - low;
    if (transposed) {
      int64_t q = i + low - k * dilation;
      if (q % stride != 0)
        return std::nullopt;
      at = q / stride;
    }
    bool never = blocks() == 1 && (at < 0 || at >= image);
    return never ? std::nullopt : std::optional(at);
  }
  /// Returns the number of pairs of a result in a block and a window element for which the input is
  /// read.
  int64_t terms() const {
    int64_t count = 0;
    for (int64_t i = 0; i < block; ++i)
      for (int64_t k = 0; k < window; ++k)
        count += place(i, k).has_value();
    return count;
  }
  void setBlock(int64_t results) {
    block = results;
    first = INT64_MAX, last = INT64_MIN;
    for (int64_t i = 0; i < block; ++i)
      for (int64_t k = 0; k < window; ++k)
        if (auto at = place(i, k))
          first = std::min(first, *at), last = std::max(last, *at);
    if (first > last)
      first = last = 0;
  }
};

/// Returns the largest power of two that divides n and is not greater than `most`.
inline int64_t getPowerOfTwoDivisor(int64_t n, int64_t most) {
  int64_t part = 1;
  while (part < most && n % (2 * part) == 0)
    part *= 2;
  return part;
}

/// Shapes and attributes of a pool, a convolution, or a gradient of a pool or convolution.
struct WindowSizes {
  explicit WindowSizes(mlir::Operation *op) : op(op) {
    auto windows = llvm::cast<WindowInterface>(op);
    gradient = llvm::isa<ConvWeightGradOp>(op);
    pools = op->hasTrait<Pooling>();
    llvm::ArrayRef<int64_t> image = shapeOf(op->getOperand(0)).drop_front(2);
    llvm::ArrayRef<int64_t> results = shapeOf(op->getResult(0)).drop_front(2);
    llvm::ArrayRef<int64_t> window = windows.getWindowSizes(), strides = windows.getStrides();
    llvm::ArrayRef<int64_t> dilations = windows.getDilations(), low = windows.getLow();
    bool transposed = llvm::isa<ConvTransposeOp, MaxPoolGradOp, AvgPoolGradOp>(op);
    if (auto o = llvm::dyn_cast<ConvWeightGradOp>(op)) {
      results = shapeOf(o.getDy()).drop_front(2);
      groups = o.getGroups();
      outputs = shapeOf(o.getDy())[1] / groups;
      inputs = shapeOf(o.getX())[1] / groups;
    } else if (pools) {
      groups = shapeOf(op->getResult(0))[1];
    } else {
      auto conv = llvm::dyn_cast<ConvOp>(op);
      groups = conv ? conv.getGroups() : llvm::cast<ConvTransposeOp>(op).getGroups();
      outputs = shapeOf(op->getResult(0))[1] / groups;
      inputs = shapeOf(op->getOperand(0))[1] / groups;
    }
    for (size_t d = 0; d < image.size(); ++d)
      axes.push_back(
          {results[d], image[d], window[d], strides[d], dilations[d], low[d], transposed, 1, 0, 0});
    places = multiplyDims(window);
    images = shapeOf(op->getOperand(0))[0];
  }

  bool hasFewChannels() const {
    return inputs <= kMaxChannels && outputs <= kMaxChannels && places <= kMaxPlaces;
  }
  bool hasOneChannel() const { return inputs == 1 && outputs == 1; }

  mlir::Operation *op;
  bool gradient = false, pools = false;
  llvm::SmallVector<WindowAxis> axes;
  /// Number of groups, and of output and input channels per group.
  int64_t groups = 1, outputs = 1, inputs = 1;
  int64_t places = 1, images = 1;
};

} // namespace dlc::cuda
#endif
