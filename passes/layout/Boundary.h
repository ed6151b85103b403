//===- Boundary.h - layouts of a program's inputs and outputs -------------===//
//
// Inputs and outputs lie row by row, as their users have them, but for those with `dlc.layout`: an
// input lies in the layout that it names, and an output with "any" is left in whichever it is made.
// So one program can hand another what nobody else looks at.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_LAYOUT_BOUNDARY_H
#define DLC_PASSES_LAYOUT_BOUNDARY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dlc {

/// Gives arguments the layouts that are asked for. Fails where a tensor cannot have one.
mlir::LogicalResult layArguments(mlir::func::FuncOp function);

/// Whether an operand of a return may come in any layout.
bool isFree(mlir::OpOperand &returned);

/// Whether it may be returned as it is: plain, or where it is free without padding, for which its
/// users have no room.
bool mayLeave(mlir::OpOperand &returned);

/// The function has the types that its arguments and results have now.
void settleBoundary(mlir::func::FuncOp function);

} // namespace dlc

#endif // DLC_PASSES_LAYOUT_BOUNDARY_H
