//===- Registers.h - values of any number of lanes, register by register ---===//
#ifndef DLC_CODEGEN_CPU_REGISTERS_H
#define DLC_CODEGEN_CPU_REGISTERS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace dlc::cpu {

/// `call` on operands of any number of lanes, or scalars, of which it takes and gives registers of
/// the type `whole`; lanes that the last register has too many repeat an element.
mlir::Value inRegisters(mlir::OpBuilder &b, mlir::Location loc, mlir::VectorType whole,
                        llvm::ArrayRef<mlir::Value> operands,
                        llvm::function_ref<mlir::Value(llvm::ArrayRef<mlir::Value>)> call);

/// The same register, through which code generation does not look: a search for one better shuffle
/// in place of several takes longer than all other work on them.
mlir::Value opaque(mlir::OpBuilder &b, mlir::Location loc, mlir::Value reg);

/// The first `lanes` lanes of a value; of one that has fewer, the last lane again and again. One
/// lane is a scalar.
mlir::Value resized(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, int64_t lanes);

} // namespace dlc::cpu

#endif
