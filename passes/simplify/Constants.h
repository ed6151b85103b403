//===- Constants.h - reading and making constants in patterns -------------===//
#ifndef DLC_PASSES_SIMPLIFY_CONSTANTS_H
#define DLC_PASSES_SIMPLIFY_CONSTANTS_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// The value of a constant, if it is one that can be read.
std::optional<ref::Tensor> constantTensor(mlir::Value value);

/// Whether only constants make the value.
bool isOfConstants(mlir::Value value);
/// What constants make of such a value.
std::optional<ref::Tensor> evaluated(mlir::Value value);

/// A constant of the tensor's elements under a type (same shape and element type; the encoding may
/// differ). Equal elements become a splat.
mlir::Value makeConstant(mlir::OpBuilder &builder, mlir::Location loc, const ref::Tensor &tensor,
                         mlir::RankedTensorType type);
/// The attribute of the same.
mlir::ElementsAttr constantAttr(const ref::Tensor &tensor, mlir::RankedTensorType type);

/// A float constant's elements as one number per channel of [N, C, ..], from shapes such as [C, 1,
/// 1], [1, C, 1, 1], or one element; `rank` is that of the tensor it broadcasts against. Nothing
/// when it is anything else.
std::optional<std::vector<double>> perChannelConstant(mlir::Value value, int64_t rank,
                                                      int64_t channels);

/// Whether the reference evaluator can be asked for the results, and its answer depends on the
/// operands alone.
bool isEvaluable(mlir::Operation *op);

/// Elements that it reads for them, and how many it may: a fraction of a second.
int64_t readsOfEvaluator(mlir::Operation *op);
constexpr int64_t kMostEvaluated = 100'000'000;

} // namespace dlc

#endif // DLC_PASSES_SIMPLIFY_CONSTANTS_H
