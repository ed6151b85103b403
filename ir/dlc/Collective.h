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
inline bool isCollective(mlir::Operation *op) { return op->hasTrait<Communicates>(); }

/// Returns whether the operation's result depends on the rank number or on data of other ranks, and
/// not only on the operands of this rank.
inline bool dependsOnRank(mlir::Operation *op) { return op->hasTrait<RankDependent>(); }

} // namespace dlc

#endif // DLC_IR_DLC_COLLECTIVE_H
