//===- Registers.h - splits values of any number of lanes into registers ---===//
#ifndef DLC_CODEGEN_CPU_REGISTERS_H
#define DLC_CODEGEN_CPU_REGISTERS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace dlc::cpu {

/// Applies `call`, which maps registers of the type `whole` to such a register, to operands of any
/// number of lanes, or to scalars. Surplus lanes of the last register repeat an element.
mlir::Value inRegisters(mlir::OpBuilder &b, mlir::Location loc, mlir::VectorType whole,
                        llvm::ArrayRef<mlir::Value> operands,
                        llvm::function_ref<mlir::Value(llvm::ArrayRef<mlir::Value>)> call);

/// Returns the same register through an empty inline assembly that hides its origin from LLVM.
/// LLVM's search for one better shuffle in place of several takes longer than all other compilation
/// of them.
mlir::Value opaque(mlir::OpBuilder &b, mlir::Location loc, mlir::Value reg);

/// Returns the first `lanes` lanes of a value. If the value has fewer lanes, the last one is
/// repeated. One lane is a scalar.
mlir::Value resized(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, int64_t lanes);

} // namespace dlc::cpu

#endif
