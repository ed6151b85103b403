//===- Climbing.h - gathers that go on by one place at most ---------------===//
//
// An image is enlarged by reading each of its elements once or several times, one after the other.
// Along rows, as many neighbours of the result as a register has lanes lie within as many
// neighbours of the operand: generated code loads these and picks among them. To do so again in
// another kernel is cheap.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_PASSES_FUSE_CLIMBING_H
#define DLC_PASSES_FUSE_CLIMBING_H

#include "ir/dlc/Dialect.h"

namespace dlc {

/// On a gather in plain order: its places are inside, and each is the one before it or the next
/// one.
constexpr llvm::StringLiteral kClimbsAttr = "dlc.climbs";

inline bool climbs(GatherOp gather) { return gather->hasAttr(kClimbsAttr); }

/// Marks those of a block for whose device code is generated in vectors.
void markClimbing(mlir::Block &block);

} // namespace dlc

#endif // DLC_PASSES_FUSE_CLIMBING_H
