//===- IntegerOperands.h - operands of contractions of integers ------------===//
#ifndef DLC_PASSES_QUANTIZE_INTEGEROPERANDS_H
#define DLC_PASSES_QUANTIZE_INTEGEROPERANDS_H

#include "ir/tensor/Tensor.h"
#include "passes/TensorBuilder.h"

namespace dlc::quantize {

constexpr double kExact = 1 << 24; ///< all integers up to 2^24 are exact in f32

/// 8-bit integers, and the zero point that is subtracted from them.
struct IntegerOperand {
  mlir::Value x;
  mlir::Value zeroPoint; ///< in x's type or i32; null means 0
};

/// Returns the integers as i8 if all of them are in the range of i8, otherwise nullopt.
std::optional<ref::Tensor> narrowToInt8(const ref::Tensor &integers);

/// Returns the integers and zero point of an operand of an integer contraction.
IntegerOperand getIntegerOperand(mlir::Operation *contraction, unsigned operand);

/// Returns an operand of an integer contraction in i32, minus its zero point.
mlir::Value subtractZeroPoint(mlir::OpBuilder &builder, mlir::Operation *contraction,
                              unsigned operand);

/// Checks that a zero point is at least -128 and at most 255, the values that generated kernels
/// support.
bool isInt8ZeroPoint(mlir::Value zero);

/// Returns the maximum of |x - zero point|, or nullopt if the range of one of the two is not known
/// at compile time.
std::optional<double> getMagnitudeBound(const IntegerOperand &of);

/// Checks that f32 represents the sum over each window of a convolution's input exactly.
bool hasExactF32Sums(ConvOp conv);

/// Returns the axis of the output channels in weights of the shape [O, I, ..], [K, N], or [N, K]
/// for transpose_b.
int64_t channelAxis(mlir::Operation *contraction);

/// Returns the shape of a vector with one element for each output channel, so that it broadcasts to
/// the contraction's result.
llvm::SmallVector<int64_t> channelShape(mlir::Operation *contraction);

/// Constant integer weights, minus their original zero points, as i8 numbers that kernels read:
/// weight = number - zeroPoint + shift of the output channel.
struct Int8Weights {
  ref::Tensor numbers; ///< integers of type i8
  int64_t zeroPoint = 0;
  std::optional<ref::Tensor> shifts;
};

/// Converts constant weights, minus their zero points, to i8 numbers with a common zero point or a
/// shift for each output channel. Returns nullopt if this is not possible.
std::optional<Int8Weights> convertToInt8Weights(mlir::OpBuilder &builder,
                                                mlir::Operation *contraction);

} // namespace dlc::quantize

#endif // DLC_PASSES_QUANTIZE_INTEGEROPERANDS_H
