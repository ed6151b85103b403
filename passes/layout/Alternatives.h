//===- Alternatives.h - replacements for operations without fast library kernels ----===//
//
// Libraries have fast kernels for the convolutions and pools of most networks. Other operations are
// expressed by these: transposed convolutions with large strides, depthwise convolutions of one or
// three spatial dimensions or with a channel multiplier, pools of one dimension, the gradients of
// these, and convolutions with few output channels. Convolutions of 16-bit floats are computed in
// f32 if the processor has no 16-bit multiplication.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_LAYOUT_ALTERNATIVES_H
#define DLC_PASSES_LAYOUT_ALTERNATIVES_H

#include "passes/Costs.h"
#include "passes/TensorBuilder.h"

namespace dlc {

/// Builder that creates operations before a given operation, and folds those whose operands are all
/// constants.
class AlternativeBuilder {
public:
  explicit AlternativeBuilder(mlir::Operation *op)
      : AlternativeBuilder(mlir::OpBuilder(op), op->getLoc()) {}
  AlternativeBuilder(const mlir::OpBuilder &at, mlir::Location loc)
      : builder(at), tensors(builder, loc), loc(loc) {}

  template <typename Op, typename... Args> mlir::Value make(Args &&...args) {
    return constant(tensors.make<Op>(std::forward<Args>(args)...));
  }
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape) {
    return constant(tensors.reshape(x, shape));
  }
  mlir::Value broadcast(mlir::Value x, llvm::ArrayRef<int64_t> shape) {
    return constant(tensors.broadcast(x, shape));
  }
  mlir::Value cast(mlir::Value x, mlir::Type element) { return constant(tensors.cast(x, element)); }
  mlir::Value zero(mlir::Value like) { return scalar(0, like); }
  mlir::Value scalar(double value, mlir::Value like) {
    return constant(tensors.scalar(value, like));
  }

  mlir::OpBuilder builder;

private:
  mlir::Value constant(mlir::Value value);

  TensorBuilder tensors;
  mlir::Location loc;
};

/// Replacement of an operation by equivalent operations that may be faster. `results` replace the
/// operation's results. The cost is that of the convolutions, matmuls and pools in `work`, and of
/// reordering the values in `moved`.
struct Alternative {
  llvm::SmallVector<mlir::Value, 2> results;
  llvm::SmallVector<mlir::Operation *> work;
  llvm::SmallVector<mlir::Value> moved;
};

/// Reuses common subexpressions: if an equivalent operation precedes the one that defines `made`,
/// erases the latter and returns the earlier value, otherwise returns `made`. A convolution and its
/// gradient then read the same transformed image.
mlir::Value deduplicateOp(mlir::Value made);

/// Returns the channel multiplier of a depthwise convolution (output channels per input channel),
/// or 0 if the convolution is not depthwise.
int64_t getChannelMultiplier(ConvOp op);

/// Returns whether the operation is a depthwise convolution, transposed convolution or weight
/// gradient, with a channel multiplier of 1.
bool isDepthwise(mlir::Operation *op);

/// Computes a transposed convolution as a convolution with additional output channels for each
/// phase, whose results are interleaved (sub-pixel convolution). Returns nullopt if not applicable.
std::optional<Alternative> convTransposeToSubPixelConv(ConvTransposeOp op, AlternativeBuilder &b);
/// Computes a depthwise convolution or pool with one spatial dimension, or its gradient, as one
/// with two spatial dimensions. Returns nullopt if not applicable.
std::optional<Alternative> expand1dTo2d(mlir::Operation *op, AlternativeBuilder &b);
/// Computes a depthwise convolution with three spatial dimensions as a sum of two-dimensional
/// depthwise convolutions, one for each plane of the window. Returns nullopt if not applicable.
std::optional<Alternative> decompose3dDepthwiseConv(ConvOp op, AlternativeBuilder &b);
/// Computes a depthwise convolution with a channel multiplier as one without, on repeated input
/// channels. Returns nullopt if not applicable.
std::optional<Alternative> repeatDepthwiseChannels(ConvOp op, AlternativeBuilder &b);

/// Computes a convolution with few output channels as one matmul for all elements of the window,
/// whose results are shifted and added. Returns nullopt if not applicable.
std::optional<Alternative> convToShiftedMatmuls(ConvOp op, AlternativeBuilder &b);

/// On GPUs, computes a convolution with adjacent, non-overlapping windows (patch embedding), or its
/// gradient, as a matmul with one row per window. Returns nullopt if not applicable.
std::optional<Alternative> convToPatchMatmul(mlir::Operation *op, AlternativeBuilder &b);
/// On GPUs, computes a strided convolution of few channels, or its gradient, on the phases of the
/// image as channels (space-to-depth). Returns nullopt if not applicable.
std::optional<Alternative> convToSpaceToDepth(mlir::Operation *op, AlternativeBuilder &b);
/// On GPUs, computes a convolution, or its gradient, with the input channels padded with zeros to
/// the size of a vector. Returns nullopt if not applicable.
std::optional<Alternative> padChannelsToVector(mlir::Operation *op, AlternativeBuilder &b);

/// Computes an operation on 16-bit floats in f32, and rounds its result. Returns nullopt if not
/// applicable.
std::optional<Alternative> computeInF32(mlir::Operation *op, AlternativeBuilder &b);

/// Replaces each operation of a block by an alternative if the alternative costs less.
void applyAlternatives(mlir::Block &block, Costs &costs);

} // namespace dlc

#endif // DLC_PASSES_LAYOUT_ALTERNATIVES_H
