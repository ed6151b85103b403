//===- TransposedOperands.h - transposed operands, transposed in tiles of registers ---===//
//
// Vector lanes along the last dimension of a transpose's result are strided in its operand, so that
// each element would be loaded separately, from its own cache line. Instead, the result is computed
// in tiles: registers are loaded along the contiguous dimension of the operand and are then
// transposed by shuffles.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CPU_KERNEL_TRANSPOSEDOPERANDS_H
#define DLC_CODEGEN_CPU_KERNEL_TRANSPOSEDOPERANDS_H

#include "codegen/cpu/kernel/Nest.h"

namespace dlc::cpu {

/// Transposes in one fusion whose operands are transposed in tiles of registers.
struct TiledTransposes {
  llvm::SmallVector<TransposeOp> transposes;
  int64_t across = 0; ///< dimension of the transposes' results that is contiguous in their operands
  int64_t lanes = 0;  ///< number of rows of a square tile, and of elements per row
};

/// Returns the transposes that the loop nest with the iteration space `shape` reads element by
/// element and that are computed in tiles. Returns nothing if there are none, if their contiguous
/// dimensions differ, or if the result is too narrow for tiles.
std::optional<TiledTransposes> findTiledTransposes(FusionOp fusion, llvm::ArrayRef<int64_t> shape,
                                                   const Target &target);

/// Returns, for each dimension of the transpose's result, the stride of that dimension in the
/// operand, in elements.
llvm::SmallVector<int64_t> getOperandStrides(TransposeOp transpose);

/// Emits the transposition of a square tile: lane i of result j is lane j of register i. The number
/// of registers must be the number of lanes.
llvm::SmallVector<mlir::Value> transposeRegisters(mlir::OpBuilder &b, mlir::Location loc,
                                                  llvm::ArrayRef<mlir::Value> registers);

} // namespace dlc::cpu

#endif // DLC_CODEGEN_CPU_KERNEL_TRANSPOSEDOPERANDS_H
