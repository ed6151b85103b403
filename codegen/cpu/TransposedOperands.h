//===- TransposedOperands.h - transposed operands, transposed in tiles of registers ---===//
//
// Lanes along the last dimension of a transpose's result are strided in its operand. Each element
// would be loaded separately, from its own cache line. Instead, the result is computed in tiles:
// registers are loaded along the dimension in which the operand is contiguous and are then
// transposed among themselves.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_CODEGEN_CPU_TRANSPOSEDOPERANDS_H
#define DLC_CODEGEN_CPU_TRANSPOSEDOPERANDS_H

#include "codegen/cpu/Nest.h"

namespace dlc::cpu {

/// Transposes of one fusion that can be computed in tiles.
struct TiledTransposes {
  llvm::SmallVector<TransposeOp> transposes;
  int64_t across = 0; ///< dimension of the results along which the operands are contiguous
  int64_t lanes = 0;  ///< rows of a tile, and elements of each of these rows
};

/// Returns the transposes that an element of a nest of `shape` reads at its own index. Returns
/// nothing if there are none, if their contiguous dimensions differ, or if the result is too narrow
/// for tiles.
std::optional<TiledTransposes> findTiledTransposes(FusionOp fusion, llvm::ArrayRef<int64_t> shape,
                                                   const Target &target);

/// Returns the operand's stride in elements along each dimension of the result.
llvm::SmallVector<int64_t> stridesOf(TransposeOp transpose);

/// Transposes a square of registers: lane i of result j is lane j of register i. The number of
/// registers must be the number of lanes.
llvm::SmallVector<mlir::Value> transposeRegisters(mlir::OpBuilder &b, mlir::Location loc,
                                                  llvm::ArrayRef<mlir::Value> registers);

} // namespace dlc::cpu

#endif // DLC_CODEGEN_CPU_TRANSPOSEDOPERANDS_H
