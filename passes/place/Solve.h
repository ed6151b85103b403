//===- Solve.h - solvers for the placement problem ------------------------===//
#ifndef DLC_PASSES_PLACE_SOLVE_H
#define DLC_PASSES_PLACE_SOLVE_H

#include "passes/place/Problem.h"

#include <optional>

namespace dlc::place {

/// Minimizes the placement cost by alpha expansion, ignoring memory capacities. The result is exact
/// if free nodes have at most two allowed labels. Otherwise it is a local optimum: no expansion of
/// a single label improves it, and it is at least as good as the naive assignment.
Labels solvePlacement(const PlacementProblem &problem);

/// Minimizes the placement cost within the memory capacities of the devices. Returns nullopt if no
/// such labels are found. The result may be suboptimal unless that of solvePlacement() is within
/// the capacities.
std::optional<Labels> solveWithinCapacity(const PlacementProblem &problem);

/// Assigns labels so that branches run concurrently, by list scheduling: nodes are visited in the
/// order of their longest path to the end of the program, and each node gets the label on which it
/// finishes first.
Labels split(const PlacementProblem &problem);

} // namespace dlc::place

#endif // DLC_PASSES_PLACE_SOLVE_H
