//===- Exec.h - the exec dialect ------------------------------------------===//
#ifndef DLC_IR_EXEC_EXEC_H
#define DLC_IR_EXEC_EXEC_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/exec/Dialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/exec/Types.h.inc"
#define GET_OP_CLASSES
#include "ir/exec/Ops.h.inc"

#endif // DLC_IR_EXEC_EXEC_H
