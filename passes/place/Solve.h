//===- Solve.h - finds good labels ----------------------------------------===//
#ifndef DLC_PASSES_PLACE_SOLVE_H
#define DLC_PASSES_PLACE_SOLVE_H

#include "passes/place/Problem.h"

#include <optional>

namespace dlc::place {

/// The labels of least energy: exact where free nodes may have two, else as good as no expansion of
/// one label betters, and never worse than naive ones. Capacities do not count.
Labels solve(const Problem &problem);

/// The same within the capacities; nothing where that is not found. Exact only where they do not
/// matter.
std::optional<Labels> solveWithin(const Problem &problem);

/// Parallel branches at the same time: each operation where it ends first, in the order of the
/// longest way to the end.
Labels split(const Problem &problem);

} // namespace dlc::place

#endif // DLC_PASSES_PLACE_SOLVE_H
