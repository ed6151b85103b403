//===- Constants.h - reads and creates constants in rewrite patterns ------===//
#ifndef DLC_PASSES_SIMPLIFY_CONSTANTS_H
#define DLC_PASSES_SIMPLIFY_CONSTANTS_H

#include "passes/TensorBuilder.h"

namespace dlc {

/// Returns the elements of a constant, or nullopt if the value is not a constant or its elements
/// cannot be read.
std::optional<ref::Tensor> constantTensor(mlir::Value value);

/// Returns whether the value is computed only from constants.
bool isComputedFromConstants(mlir::Value value);
/// Evaluates a value that is computed only from constants. Returns nullopt if that fails.
std::optional<ref::Tensor> evaluateConstant(mlir::Value value);
/// Evaluates the operation that defines the value if all of its operands are constants, and returns
/// the resulting constant. Returns the value itself if there is no such operation, or if it cannot
/// be evaluated.
mlir::Value foldToConstant(mlir::OpBuilder &builder, mlir::Value value);

/// Creates a constant with the tensor's elements. `type` has the same shape and element type, but
/// its encoding may differ. If all elements are equal, the constant is a splat.
mlir::Value makeConstant(mlir::OpBuilder &builder, mlir::Location loc, const ref::Tensor &tensor,
                         mlir::RankedTensorType type);
/// Returns the attribute of a constant with the tensor's elements. If all elements are equal, the
/// attribute is a splat.
mlir::ElementsAttr constantAttr(const ref::Tensor &tensor, mlir::RankedTensorType type);

/// Returns the elements of a float constant as one value per channel of [N, C, ..]. The constant's
/// shape may be [C, 1, 1], [1, C, 1, 1] or similar, or have one element. `rank` is the rank of the
/// tensor that the constant broadcasts against. Returns nullopt for other shapes.
std::optional<std::vector<double>> getPerChannelConstant(mlir::Value value, int64_t rank,
                                                         int64_t channels);

/// Returns whether the reference evaluator can compute the operation and the results depend on the
/// operands alone.
bool isEvaluable(mlir::Operation *op);

/// Returns the number of elements that the reference evaluator reads to compute the results.
/// Evaluation is limited to kMaxEvaluated reads, which take a fraction of a second.
int64_t countEvaluatorReads(mlir::Operation *op);
constexpr int64_t kMaxEvaluated = 100'000'000;

} // namespace dlc

#endif // DLC_PASSES_SIMPLIFY_CONSTANTS_H
