//===- StepSlice.h - slices whose offset advances with a loop -------------===//
#ifndef DLC_PASSES_FUSE_ANALYSIS_STEPSLICE_H
#define DLC_PASSES_FUSE_ANALYSIS_STEPSLICE_H

#include "ir/dlc/Dialect.h"

#include <optional>

namespace dlc {

/// Returns the trip count of the loop, or nullopt if it is not a constant.
std::optional<int64_t> getTripCount(LoopOp loop);

/// Returns whether the loop contains no other loop. Memory addresses in its commands may then
/// depend on its iteration.
bool isInnermost(LoopOp loop);

/// Row that a gather selects in each iteration of a loop: first + step * iteration.
struct IterationSlice {
  int64_t first = 0, step = 1;
};

/// Matches a gather along the first dimension whose index is the iteration number of the enclosing
/// loop, or the sum or difference of this number and a constant. The index must be in bounds in all
/// iterations. Such a gather needs no kernel, only an address that advances. Returns nullopt for
/// other operations.
std::optional<IterationSlice> matchStepSlice(mlir::Operation *op);

/// Returns whether the operation is index arithmetic that only gathers matched by matchStepSlice()
/// read, so that it needs no kernel.
bool isIterationIndex(mlir::Operation *op);

/// Returns whether the operation is a slice that reverses the rows that a loop has stacked, and is
/// their only reader. The loop can then store its rows in reverse order instead.
bool isReversedLoopOutput(mlir::Operation *op);

} // namespace dlc

#endif // DLC_PASSES_FUSE_ANALYSIS_STEPSLICE_H
