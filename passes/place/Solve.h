//===- Solve.h - solvers for the placement problem ------------------------===//
#ifndef DLC_PASSES_PLACE_SOLVE_H
#define DLC_PASSES_PLACE_SOLVE_H

#include "passes/place/Problem.h"

#include <optional>

namespace dlc::place {

/// Returns labels of low energy, by alpha expansion. Exact if free nodes have at most two allowed
/// labels. Otherwise a local optimum: no expansion of a single label improves it, and it is at
/// least as good as the naive labels. Ignores capacities.
Labels solve(const Problem &problem);

/// Same as `solve`, but within the capacities. Returns nullopt if no such labels are found. Exact
/// only if the result of `solve` is within the capacities.
std::optional<Labels> solveWithin(const Problem &problem);

/// Returns labels for concurrent branches by list scheduling: nodes are visited in the order of
/// their longest path to the end, and each node gets the label on which it finishes first.
Labels split(const Problem &problem);

} // namespace dlc::place

#endif // DLC_PASSES_PLACE_SOLVE_H
