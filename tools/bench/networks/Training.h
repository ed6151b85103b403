//===- Training.h - training setups of the benchmark networks -------------===//
#ifndef DLC_TOOLS_BENCH_NETWORKS_TRAINING_H
#define DLC_TOOLS_BENCH_NETWORKS_TRAINING_H

#include "dlc/step.hpp"
#include "tools/bench/networks/Networks.h"

namespace dlc::bench {

/// A network with its loss, its inputs (the last one is the target), and the settings of plain SGD.
struct TrainingSetup {
  std::shared_ptr<nn::Module> module;
  std::vector<trace::Spec> inputs;
  /// Number of classes; targets are class labels from 0 to `classes` - 1.
  int64_t classes;
  trace::Tensor (*loss)(const trace::Operand &, const trace::Operand &);
  double rate = 0.01;
  /// Maximum norm of the gradient; 0 disables gradient clipping.
  double clipNorm = 0;
};

/// Creates the training setup of the network of this name. Throws dlc::Error if the name is
/// unknown. A batch of 0 selects the network's default batch size.
TrainingSetup makeTraining(const std::string &name, int64_t batch = 0);

} // namespace dlc::bench

#endif // DLC_TOOLS_BENCH_NETWORKS_TRAINING_H
