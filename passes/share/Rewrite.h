//===- Rewrite.h - rewrites a function for execution on each rank ---------===//
#ifndef DLC_PASSES_SHARE_REWRITE_H
#define DLC_PASSES_SHARE_REWRITE_H

#include "passes/share/Analysis.h"

namespace dlc::share {

/// Rewrites the function for execution on each rank: changes types to those of one rank's parts,
/// and inserts collectives where partial sums are added up or parts are gathered.
void rewriteForRanks(mlir::func::FuncOp function, const ProgramShares &shares);

} // namespace dlc::share

#endif // DLC_PASSES_SHARE_REWRITE_H
