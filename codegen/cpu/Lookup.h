//===- Lookup.h - tables of 256 bytes in registers ------------------------===//
#ifndef DLC_CODEGEN_CPU_LOOKUP_H
#define DLC_CODEGEN_CPU_LOOKUP_H

#include "codegen/cpu/Emitter.h"

namespace dlc::cpu {

/// table[x's bits]: x is an i8, or a vector of them, and so is the result. The table has 256
/// elements of 8 bits.
mlir::Value emitLookup(Emitter &e, mlir::Value x, mlir::ElementsAttr table);

} // namespace dlc::cpu

#endif
