//===- Random.h - random numbers for other families ---------------------------===//
#ifndef DLC_FRONTEND_ATEN_RANDOM_H
#define DLC_FRONTEND_ATEN_RANDOM_H

#include "frontend/aten/Node.h"

namespace dlc::aten {

/// Random numbers that follow from the graph's seed, the node's name, `salt` and the number of the
/// step. An error where the graph is no training step's.
Value random(Build &b, RandomKind kind, ArrayRef<int64_t> shape, Type element, StringRef salt = "");

/// Zeros with that probability, the rest enlarged; what is kept goes to `kept`.
Value dropout(Build &b, Value x, double probability, Value *kept = nullptr, StringRef salt = "");

} // namespace dlc::aten

#endif // DLC_FRONTEND_ATEN_RANDOM_H
