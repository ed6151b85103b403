//===- IntegerOperands.h - operands of contractions of integers ------------===//
#ifndef DLC_PASSES_QUANTIZE_INTEGEROPERANDS_H
#define DLC_PASSES_QUANTIZE_INTEGEROPERANDS_H

#include "ir/tensor/Tensor.h"
#include "passes/TensorBuilder.h"

namespace dlc::quantize {

constexpr double kExact = 1 << 24; ///< integers up to this one are exact in f32

/// Integers of 8 bits and the zero point that is subtracted from them.
struct Integers {
  mlir::Value x;
  mlir::Value zeroPoint; ///< in x's type or i32; null: 0
};

/// Returns integers as i8 if all of them fit.
std::optional<ref::Tensor> narrowed(const ref::Tensor &integers);

/// Returns an operand of a contraction of integers.
Integers integersOf(mlir::Operation *contraction, unsigned operand);

/// Returns an operand of a contraction of integers in i32, minus its zero point.
mlir::Value centered(mlir::OpBuilder &builder, mlir::Operation *contraction, unsigned operand);

/// Checks that a zero point is at least -128 and at most 255, the values that generated kernels
/// support.
bool isZeroPointOfBytes(mlir::Value zero);

/// Returns the maximum of |x - zero point|; nothing if the zero point is unknown.
std::optional<double> boundOf(const Integers &of);

/// Checks that f32 holds the sum over each window of a convolution's operand exactly.
bool hasSmallSums(ConvOp conv);

/// Returns the axis of output channels in weights [O, I, ..], [K, N], or [N, K] for transpose_b.
int64_t channelAxis(mlir::Operation *contraction);

/// Shape of one element for each output channel that broadcasts to the result.
llvm::SmallVector<int64_t> channelShape(mlir::Operation *contraction);

/// Constant weights as kernels read them: numbers - zeroPoint + shift of the channel.
struct Weights {
  ref::Tensor numbers; ///< i8
  int64_t zeroPoint = 0;
  std::optional<ref::Tensor> shifts;
};

/// Returns constant weights minus their zero points as kernels read them. Returns nothing if they
/// have no such form.
std::optional<Weights> weightsOf(mlir::OpBuilder &builder, mlir::Operation *contraction);

} // namespace dlc::quantize

#endif // DLC_PASSES_QUANTIZE_INTEGEROPERANDS_H
