//===- Registers.h - splits values of any number of lanes into registers ---===//
#ifndef DLC_CODEGEN_CPU_MATH_REGISTERS_H
#define DLC_CODEGEN_CPU_MATH_REGISTERS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace dlc::cpu {

/// Applies an operation on full vector registers to operands with any number of lanes, or to
/// scalars. `call` maps registers of the type `whole` to a register of this type. Unused lanes of
/// the last register repeat an element.
mlir::Value applyPerRegister(mlir::OpBuilder &b, mlir::Location loc, mlir::VectorType whole,
                             llvm::ArrayRef<mlir::Value> operands,
                             llvm::function_ref<mlir::Value(llvm::ArrayRef<mlir::Value>)> call);

/// Passes a register through an empty inline assembly, so that LLVM cannot combine the shuffles
/// before and after it. LLVM's search for one better shuffle in place of several takes longer than
/// the rest of their compilation.
mlir::Value hideFromOptimizer(mlir::OpBuilder &b, mlir::Location loc, mlir::Value reg);

/// Returns the first `lanes` lanes of `x`. If `x` has fewer lanes, its last lane is repeated. The
/// result for `lanes` = 1 is a scalar if `x` is a vector with more lanes.
mlir::Value resizeVector(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, int64_t lanes);

} // namespace dlc::cpu

#endif
