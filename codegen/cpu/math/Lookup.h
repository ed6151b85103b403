//===- Lookup.h - tables of 256 bytes in registers ------------------------===//
#ifndef DLC_CODEGEN_CPU_MATH_LOOKUP_H
#define DLC_CODEGEN_CPU_MATH_LOOKUP_H

#include "codegen/cpu/target/Target.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"

namespace dlc::cpu {

/// Emits a table lookup: returns table[x], where x is an i8 or a vector of i8 and is used as an
/// unsigned index. The table has 256 elements of 8 bits.
mlir::Value emitLookup(mlir::OpBuilder &b, mlir::Location loc, const Target &target, mlir::Value x,
                       mlir::ElementsAttr table);

} // namespace dlc::cpu

#endif
