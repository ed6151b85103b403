//===- Control.h - evaluation of branches and loops with captured values ---===//
#ifndef DLC_IR_REFERENCE_CONTROL_H
#define DLC_IR_REFERENCE_CONTROL_H

#include "ir/dlc/Dialect.h"

namespace dlc::ref {

llvm::LogicalResult evaluateIf(IfOp op, llvm::ArrayRef<Tensor> inputs,
                               llvm::function_ref<Tensor(mlir::Value)> outer,
                               llvm::SmallVectorImpl<Tensor> &outputs);
llvm::LogicalResult evaluateLoop(LoopOp op, llvm::ArrayRef<Tensor> inputs,
                                 llvm::function_ref<Tensor(mlir::Value)> outer,
                                 llvm::SmallVectorImpl<Tensor> &outputs);

} // namespace dlc::ref

#endif // DLC_IR_REFERENCE_CONTROL_H
