//===- StepRanks.h - training steps on ranks that are threads -----------------===//
#ifndef DLC_TEST_RUNTIME_COLLECTIVE_STEPRANKS_H
#define DLC_TEST_RUNTIME_COLLECTIVE_STEPRANKS_H

#include "runtime/collective/World.h"
#include "runtime/program/Plan.h"
#include "runtime/program/Program.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dlc::test {

using Bytes = std::vector<char>;

/// Losses of all steps, then the states that all ranks have alike, and the rank's own shares.
struct Results {
  std::vector<Bytes> outputs;
  std::map<std::string, Bytes> states;
  std::vector<std::pair<runtime::StateInfo, Bytes>> shares;
  /// What all ranks have.
  bool isLike(const Results &other) const {
    return outputs == other.outputs && states == other.states;
  }
};

/// Whole batches: of each step, by input.
using Batches = std::vector<std::vector<Bytes>>;

/// For a step's inputs, each as many times as there are parts: floats around 0; integers are
/// classes.
Batches someBatches(const std::shared_ptr<const runtime::Program> &program, int steps,
                    size_t parts = 1);

/// The step in a world of its own, which takes the whole batch.
Results runAlone(const std::shared_ptr<const runtime::Program> &program, const Batches &batches);

/// The step on ranks, each of which takes its part of the batch. Throws dlc::Error where one of
/// them does, once all have ended. `bucketBytes`: see SessionOptions.
std::vector<Results> runOnRanks(size_t ranks,
                                const std::shared_ptr<const runtime::Program> &program,
                                const Batches &batches, const std::string &order,
                                std::optional<double> bucketBytes = {});

/// The largest, relative to the largest number of each tensor.
double difference(const Bytes &a, const Bytes &b);
double difference(const std::vector<Bytes> &a, const std::vector<Bytes> &b);

} // namespace dlc::test

#endif // DLC_TEST_RUNTIME_COLLECTIVE_STEPRANKS_H
