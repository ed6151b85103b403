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
#include "passes/layout/LayoutOracle.h"

namespace dlc {

/// Creates operations before another one, and folds them if all of their operands are constants.
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

/// Replacement of an operation. `results` replace its results. Its cost is that of the
/// convolutions, matmuls and pools in `work`, and of reordering the values in `moved`.
struct Alternative {
  llvm::SmallVector<mlir::Value, 2> results;
  llvm::SmallVector<mlir::Operation *> work;
  llvm::SmallVector<mlir::Value> moved;
};

/// If an equivalent operation precedes the one that defines `made`, erases the latter and returns
/// the earlier value. This way a convolution and its gradient read the same transformed image.
mlir::Value once(mlir::Value made);

/// Channel multiplier of a depthwise convolution (output channels per input channel); 0 if the
/// convolution is not depthwise.
int64_t multiplierOf(ConvOp op);

/// Whether the operation is a depthwise convolution, transposed convolution or weight gradient,
/// with a channel multiplier of 1.
bool isDepthwise(mlir::Operation *op);

/// A transposed convolution as a convolution with additional output channels for each phase, whose
/// results are interleaved (sub-pixel convolution).
std::optional<Alternative> subPixels(ConvTransposeOp op, AlternativeBuilder &b);
/// A depthwise convolution or a pool with one spatial dimension as one with two dimensions; also
/// their gradients.
std::optional<Alternative> flatPlanes(mlir::Operation *op, AlternativeBuilder &b);
/// A depthwise convolution with three spatial dimensions as a sum of two-dimensional ones, one for
/// each plane of the window.
std::optional<Alternative> summedPlanes(ConvOp op, AlternativeBuilder &b);
/// A depthwise convolution with a channel multiplier as one on repeated input channels.
std::optional<Alternative> repeatedChannels(ConvOp op, AlternativeBuilder &b);

/// A convolution with few output channels as one matmul for all elements of the window, whose
/// results are shifted and added.
std::optional<Alternative> shiftedProducts(ConvOp op, AlternativeBuilder &b);

/// On GPUs: a convolution with adjacent, non-overlapping windows as a matmul with one row per
/// window; also its gradient.
std::optional<Alternative> patchProducts(mlir::Operation *op, AlternativeBuilder &b);
/// On GPUs: a strided convolution of few channels as one of the image's phases (space-to-depth);
/// also its gradient.
std::optional<Alternative> phasesAsChannels(mlir::Operation *op, AlternativeBuilder &b);
/// On GPUs: a convolution with the input channels padded with zeros to a vector; also its gradient.
std::optional<Alternative> wholeChannels(mlir::Operation *op, AlternativeBuilder &b);

/// An operation on 16-bit floats as one on f32, whose result is rounded.
std::optional<Alternative> inSinglePrecision(mlir::Operation *op, AlternativeBuilder &b);

/// Replaces the operations of a block whose replacement costs less.
void takeAlternatives(mlir::Block &block, LayoutOracle &oracle, Costs &costs);

} // namespace dlc

#endif // DLC_PASSES_LAYOUT_ALTERNATIVES_H
