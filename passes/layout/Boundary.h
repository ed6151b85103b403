//===- Boundary.h - layouts of a program's inputs and outputs -------------===//
//
// Inputs and outputs are row-major, except those with `dlc.layout`: an input has the layout that
// the attribute names, and an output with "any" keeps the layout in which it is computed. Values
// that one program passes to another one therefore need no reorder if no other code reads them.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_LAYOUT_BOUNDARY_H
#define DLC_PASSES_LAYOUT_BOUNDARY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dlc {

/// Changes the types of a function's arguments to the layouts that their attributes request. Fails
/// if a tensor does not support the layout.
mlir::LogicalResult applyArgumentLayouts(mlir::func::FuncOp function);

/// Returns whether the function may return this operand in any layout: its result has the attribute
/// `dlc.layout` = "any".
bool hasFreeResultLayout(mlir::OpOperand &returned);

/// Returns whether the function may return the operand in its current layout: row-major, or any
/// layout without padding if hasFreeResultLayout(). Buffers of callers have no capacity for
/// padding.
bool mayReturnLayout(mlir::OpOperand &returned);

/// Updates the function type to the current types of the function's arguments and results.
void updateFunctionType(mlir::func::FuncOp function);

} // namespace dlc

#endif // DLC_PASSES_LAYOUT_BOUNDARY_H
