//===- Collective.h - operations between the ranks of a world -------------===//
//
// Few speak of these: they are in no header that all include.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_IR_DLC_COLLECTIVE_H
#define DLC_IR_DLC_COLLECTIVE_H

#include "ir/dlc/Dialect.h"

#define GET_OP_CLASSES
#include "ir/dlc/Collective.h.inc"

namespace dlc {

/// Makes the dialect know them.
void registerCollectives(DlcDialect &dialect);

/// Whether ranks meet in it.
inline bool isCollective(mlir::Operation *op) {
  return mlir::isa<AllReduceOp, AllGatherOp, ReduceScatterOp, BroadcastRanksOp>(op);
}

/// Whether the result does not follow from the operands of this rank alone.
inline bool dependsOnRank(mlir::Operation *op) {
  return isCollective(op) || mlir::isa<OwnRowsOp>(op);
}

/// On a batch_norm_train, whose statistics are then those of all ranks, and on its batch_norm_grad:
/// a dictionary. `layer` is its number; where sums must not depend on how many ranks there are,
/// `chunks` and `ranks` are how many these are, and each of a rank's chunks has one of that number.
constexpr llvm::StringLiteral kOverRanksAttr = "dlc.over_ranks";

} // namespace dlc

#endif // DLC_IR_DLC_COLLECTIVE_H
