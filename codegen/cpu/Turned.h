//===- Turned.h - results whose operands lie across, in tiles of registers ===//
//
// Lanes along the last dimension of a transposition's result are strided in its operand: each would
// be loaded by itself, from a line of its own. Instead, tiles of the result are made: along the
// dimension whose neighbours lie side by side in the operand, registers are loaded, and transposed
// among themselves.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CPU_TURNED_H
#define DLC_CODEGEN_CPU_TURNED_H

#include "codegen/cpu/Nest.h"

namespace dlc::cpu {

/// Transpositions of one fusion that can be walked in tiles.
struct Turned {
  llvm::SmallVector<TransposeOp> transposes;
  int64_t across = 0; ///< the dimension of the results whose neighbours lie side by side
  int64_t lanes = 0;  ///< a tile has so many rows, of so many elements each
};

/// Those that an element of a nest of `shape` reads at its own index; nothing where there are none,
/// where they lie in several directions, or where the result is too narrow for tiles.
std::optional<Turned> findTurned(FusionOp fusion, llvm::ArrayRef<int64_t> shape,
                                 const Target &target);

/// Elements of the operand between neighbours along each dimension of the result.
llvm::SmallVector<int64_t> stridesOf(TransposeOp transpose);

/// Registers (all of as many lanes as there are registers) whose lane i of register j was lane j of
/// register i.
llvm::SmallVector<mlir::Value> transposeRegisters(mlir::OpBuilder &b, mlir::Location loc,
                                                  llvm::ArrayRef<mlir::Value> registers);

} // namespace dlc::cpu

#endif // DLC_CODEGEN_CPU_TURNED_H
