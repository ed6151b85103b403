//===- Evaluate.h - evaluates dlc functions with the reference evaluator ---===//
#ifndef DLC_IR_REFERENCE_EVALUATE_H
#define DLC_IR_REFERENCE_EVALUATE_H

#include "ir/tensor/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace dlc::ref {

/// Evaluates a function of dlc operations. A diagnostic reports which operation failed and why.
mlir::LogicalResult evaluate(mlir::FunctionOpInterface function, llvm::ArrayRef<Tensor> inputs,
                             llvm::SmallVectorImpl<Tensor> &outputs);

/// Removes the results that users do not see. Results with `dlc.counted` (bounded dynamic
/// dimensions) are truncated to the sizes in their counter results, and the counter results are
/// removed.
void truncateDynamicResults(mlir::FunctionOpInterface function,
                            llvm::SmallVectorImpl<Tensor> &results);

/// Evaluates one block with the given argument values. The callback `outer` returns the tensors of
/// values that are defined outside the block.
mlir::LogicalResult evaluateBlock(mlir::Block &block, llvm::ArrayRef<Tensor> arguments,
                                  llvm::function_ref<Tensor(mlir::Value)> outer,
                                  llvm::SmallVectorImpl<Tensor> &yielded);

/// Evaluates one operation with the given operand values. Its regions read values that are defined
/// outside through the callback `outer`.
mlir::LogicalResult evaluateOp(mlir::Operation *op, llvm::ArrayRef<Tensor> inputs,
                               llvm::function_ref<Tensor(mlir::Value)> outer,
                               llvm::SmallVectorImpl<Tensor> &outputs);

} // namespace dlc::ref

#endif // DLC_IR_REFERENCE_EVALUATE_H
