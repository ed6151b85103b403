//===- Alternatives.h - other ways to compute what libraries do slowly ----===//
//
// Libraries have fast code for the convolutions and pools that most networks have. What has none
// (transposed convolutions with long strides, depthwise ones of one or three spatial dimensions or
// with several results for a channel, pools of one dimension, gradients of these, convolutions with
// few results) is made of those that have.
// So are convolutions of 16-bit floats where the processor does not multiply these.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_LAYOUT_ALTERNATIVES_H
#define DLC_PASSES_LAYOUT_ALTERNATIVES_H

#include "passes/Costs.h"
#include "passes/layout/Ask.h"

namespace dlc {

/// Makes operations before another; what follows from constants is a constant again.
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

/// Values in the place of the operation's, and what they cost: products and pools, and values that
/// are moved on the way.
struct Alternative {
  llvm::SmallVector<mlir::Value, 2> results;
  llvm::SmallVector<mlir::Operation *> work;
  llvm::SmallVector<mlir::Value> moved;
};

/// The operation that the value is of, or one before it that does the same: gradients read the same
/// image as what they are of.
mlir::Value once(mlir::Value made);

/// Results for each channel of a convolution that has nothing but these; 0 for others.
int64_t multiplierOf(ConvOp op);

/// Whether each channel has a convolution of its own, forward or back.
bool isDepthwise(mlir::Operation *op);

/// A transposed convolution with strides as a convolution with a channel for each phase, whose
/// results are interleaved.
std::optional<Alternative> subPixels(ConvTransposeOp op, AlternativeBuilder &b);
/// A depthwise convolution, or a pool, of one dimension as one of two; and their gradients.
std::optional<Alternative> flatPlanes(mlir::Operation *op, AlternativeBuilder &b);
/// A depthwise convolution of three dimensions as the sum of those of its planes.
std::optional<Alternative> summedPlanes(ConvOp op, AlternativeBuilder &b);
/// A convolution with several results for each channel as a depthwise one of repeated channels.
std::optional<Alternative> repeatedChannels(ConvOp op, AlternativeBuilder &b);

/// A convolution with a few results at each place as one product of all elements of its window,
/// whose results are shifted and added.
std::optional<Alternative> shiftedProducts(ConvOp op, AlternativeBuilder &b);

/// On GPUs: windows that do not meet as rows of a product; and their gradient.
std::optional<Alternative> patchProducts(mlir::Operation *op, AlternativeBuilder &b);
/// On GPUs: strided ones of few channels as ones of the image's phases; and their gradient.
std::optional<Alternative> phasesAsChannels(mlir::Operation *op, AlternativeBuilder &b);
/// On GPUs: the same of images with as many channels as a vector has, zeros behind their own.
std::optional<Alternative> wholeChannels(mlir::Operation *op, AlternativeBuilder &b);

/// Of 16-bit floats as one of f32, whose result is rounded.
std::optional<Alternative> inSinglePrecision(mlir::Operation *op, AlternativeBuilder &b);

/// Takes those that cost less.
void takeAlternatives(mlir::Block &block, LayoutOracle &oracle, Costs &costs);

} // namespace dlc

#endif // DLC_PASSES_LAYOUT_ALTERNATIVES_H
