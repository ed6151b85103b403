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

#include "runtime/kind/DeviceName.h"

#include <optional>

namespace dlc::exec {
template <typename Op> class NamesMemory : public mlir::OpTrait::TraitBase<Op, NamesMemory> {};
} // namespace dlc::exec

#include "ir/exec/Dialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/exec/Interfaces.h.inc"
#include "ir/exec/Types.h.inc"
#define GET_OP_CLASSES
#include "ir/exec/Ops.h.inc"

namespace dlc::exec {

/// Name of the host CPU device.
constexpr llvm::StringRef kHost = runtime::kHostName;

/// Returns whether this is the canonical name of a device: cpu, cpu:1, cuda:0 (but not cpu:0).
bool isDeviceName(llvm::StringRef name);

/// Returns the stream number of a command, or nullopt if the operation is not a command.
std::optional<unsigned> getStreamNumber(mlir::Operation *op);

/// Assigns a stream to a command and to all commands nested in its regions.
void setStream(mlir::Operation *op, unsigned stream);

/// Returns the groups of concurrent loops of a program: each is a loop with the `concurrent` loops
/// that follow it.
llvm::SmallVector<llvm::SmallVector<LoopOp>> concurrentLoops(ProgramOp program);

/// Returns the operand indices of the buffers that the command writes.
llvm::SmallVector<unsigned> getWrittenOperands(mlir::Operation *op);

} // namespace dlc::exec

#endif // DLC_IR_EXEC_EXEC_H
