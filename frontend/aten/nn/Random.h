//===- Random.h - random numbers and dropout for other operator families --===//
#ifndef DLC_FRONTEND_ATEN_NN_RANDOM_H
#define DLC_FRONTEND_ATEN_NN_RANDOM_H

#include "frontend/aten/Node.h"

namespace dlc::aten {

/// Returns random numbers that depend on the graph's seed, the node's name, `salt` and the step
/// number. Reports an error if the graph is not a training step.
Value buildRandom(Build &b, RandomKind kind, ArrayRef<int64_t> shape, Type element,
                  StringRef salt = "");

/// Sets elements to zero with the given probability and scales up the others. `kept` receives the
/// mask of the elements that are not set to zero.
Value buildDropout(Build &b, Value x, double probability, Value *kept = nullptr,
                   StringRef salt = "");

} // namespace dlc::aten

#endif // DLC_FRONTEND_ATEN_NN_RANDOM_H
