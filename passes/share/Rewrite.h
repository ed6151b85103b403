//===- Rewrite.h - the function as each rank runs it ---------------------------===//
#ifndef DLC_PASSES_SHARE_REWRITE_H
#define DLC_PASSES_SHARE_REWRITE_H

#include "passes/share/Analysis.h"

namespace dlc::share {

/// Gives the function the types of a rank's parts, and puts collectives where terms are summed or
/// parts are put together.
void rewriteForRanks(mlir::func::FuncOp function, const Shares &shares);

} // namespace dlc::share

#endif // DLC_PASSES_SHARE_REWRITE_H
