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

/// Results of a rank: losses of all steps, states that are equal on all ranks, and the rank's
/// shares of split states.
struct Results {
  std::vector<Bytes> outputs;
  std::map<std::string, Bytes> states;
  std::vector<std::pair<runtime::StateInfo, Bytes>> shares;
  /// Compares the results that must be equal on all ranks.
  bool isLike(const Results &other) const {
    return outputs == other.outputs && states == other.states;
  }
};

/// The whole batch of each step: one array for each input.
using Batches = std::vector<std::vector<Bytes>>;

/// Returns random values for the inputs of each step, for a batch that is `parts` times larger than
/// the program's. Floats are near 0, integers are class indices.
Batches someBatches(const std::shared_ptr<const runtime::Program> &program, int steps,
                    size_t parts = 1);

/// Runs the step on a single rank with the whole batch.
Results runAlone(const std::shared_ptr<const runtime::Program> &program, const Batches &batches);

/// Runs the step on `ranks` ranks, each with its part of the batch. If a rank throws a dlc::Error,
/// throws it once all ranks have ended. `bucketBytes`: see SessionOptions.
std::vector<Results> runOnRanks(size_t ranks,
                                const std::shared_ptr<const runtime::Program> &program,
                                const Batches &batches, const std::string &order,
                                std::optional<double> bucketBytes = {});

/// Returns the largest difference, relative to the largest value of each tensor.
double difference(const Bytes &a, const Bytes &b);
double difference(const std::vector<Bytes> &a, const std::vector<Bytes> &b);

} // namespace dlc::test

#endif // DLC_TEST_RUNTIME_COLLECTIVE_STEPRANKS_H
