//===- Collective.h - collective operations between the ranks of a world ---===//
//
// Few files use the collectives, so the headers that include the whole dialect do not include them.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_IR_DLC_COLLECTIVE_H
#define DLC_IR_DLC_COLLECTIVE_H

#include "ir/dlc/Dialect.h"

#define GET_OP_CLASSES
#include "ir/dlc/Collective.h.inc"

namespace dlc {

/// Registers the collective operations (all_reduce, all_gather, ..) with the dialect.
void registerCollectives(DlcDialect &dialect);

/// Returns whether the operation communicates between ranks.
inline bool isCollective(mlir::Operation *op) {
  return mlir::isa<AllReduceOp, AllGatherOp, ReduceScatterOp, BroadcastRanksOp>(op);
}

/// Returns whether the operation's result depends on the rank number or on data of other ranks, and
/// not only on the operands of this rank.
inline bool dependsOnRank(mlir::Operation *op) {
  return isCollective(op) || mlir::isa<OwnRowsOp>(op);
}

/// Name of the dictionary attribute of a synchronized batch_norm_train, whose statistics cover the
/// batches of all ranks, and of its batch_norm_grad. Entry `layer` is the index of the layer. If
/// the sums must not depend on the number of ranks, the batch is split into chunks: `chunks` is the
/// number of chunks over all ranks, `ranks` is the number of ranks, and each chunk of a rank has
/// its own copy of the operation with the same `layer`.
constexpr llvm::StringLiteral kOverRanksAttr = "dlc.over_ranks";

} // namespace dlc

#endif // DLC_IR_DLC_COLLECTIVE_H
