//===- Evaluate.h - running dlc functions on the reference evaluator ------===//
#ifndef DLC_IR_REFERENCE_EVALUATE_H
#define DLC_IR_REFERENCE_EVALUATE_H

#include "ir/tensor/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace dlc::ref {

/// Evaluates a function of dlc operations. Diagnostics say which operation failed and why.
mlir::LogicalResult evaluate(mlir::FunctionOpInterface function, llvm::ArrayRef<Tensor> inputs,
                             llvm::SmallVectorImpl<Tensor> &outputs);

/// Of a function's results those that users see, in the sizes that counters among them tell
/// (`dlc.counted`).
void takeFound(mlir::FunctionOpInterface function, llvm::SmallVectorImpl<Tensor> &results);

/// Evaluates one block whose arguments have the given values; `outer` answers for values defined
/// outside.
mlir::LogicalResult evaluateBlock(mlir::Block &block, llvm::ArrayRef<Tensor> arguments,
                                  llvm::function_ref<Tensor(mlir::Value)> outer,
                                  llvm::SmallVectorImpl<Tensor> &yielded);

/// Evaluates one operation on values (regions may use values from outside through `outer`).
mlir::LogicalResult evaluateOp(mlir::Operation *op, llvm::ArrayRef<Tensor> inputs,
                               llvm::function_ref<Tensor(mlir::Value)> outer,
                               llvm::SmallVectorImpl<Tensor> &outputs);

} // namespace dlc::ref

#endif // DLC_IR_REFERENCE_EVALUATE_H
